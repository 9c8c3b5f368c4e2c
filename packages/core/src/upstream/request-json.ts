import type { JsonObject } from '@signalbox/dialects/protocol'
import { type SendOptions, type SendPorts, sendRequest } from './send.ts'

/** Sends a request and returns its JSON object. Undefined if it failed or is not one. Rejects if provider code throws. */
export const requestJson = (options: SendOptions, ports: SendPorts): Promise<JsonObject | undefined> =>
  new Promise((resolve, reject) =>
    sendRequest(options, ports, {
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
