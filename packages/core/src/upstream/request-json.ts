import type { JsonObject } from '../protocol/wire.ts'
import { type SendOptions, type SendPorts, send } from './send.ts'

/** One exchange whose answer is a JSON object; nothing where it is none, or a failure. Rejects where the provider's own code throws. */
export const requestJson = (options: SendOptions, ports: SendPorts): Promise<JsonObject | undefined> =>
  new Promise((resolve, reject) =>
    send(options, ports, {
      onAccepted: () => {},
      onBody: resolve,
      onStream: source => {
        source.cancel()
        resolve(undefined)
        return { next: () => {}, end: () => {}, fail: () => {} }
      },
      onFailure: () => resolve(undefined),
      onError: reject,
    }),
  )
