import type { Gateway } from '@signalbox/core'
import { checkOptionTable, type OptionTable, type OptionTableOf } from '@signalbox/core/errors'
import type { ClientLimits } from './client-limits.ts'
import type { ApiOptions } from './settings.ts'
import type { WebSocketLimits } from './websocket/limits.ts'

/** What the options that all adapters have take. */
export const mountTable: OptionTableOf<ApiOptions & ClientLimits> = {
  bodyBytes: 'number',
  uploadBytesPerWorkspace: 'number',
  uploadBytesPerUser: 'number',
  uploadBytes: 'number',
  holdMs: 'number',
  keepAliveMs: 'number',
  webSockets: {
    connectionsPerWorkspace: 'number',
    connectionsPerUser: 'number',
    connections: 'number',
    maxAgeMs: 'number',
    maxIdleMs: 'number',
    messageBytes: 'number',
    maxWaiting: 'number',
    keptBytes: 'number',
    keptBytesPerWorkspace: 'number',
    keptBytesPerUser: 'number',
    keptBytesTotal: 'number',
  } satisfies OptionTableOf<WebSocketLimits>,
  exportRows: 'number',
  basePath: 'text',
  cors: 'object',
  authenticateMs: 'number',
  onRequest: 'function',
  bodyIdleMs: 'number',
  bodyBytesPerSecond: 'number',
  drainMs: 'number',
}

/** What an adapter was given to put on a server. */
interface Mount {
  readonly gateway: Gateway
  readonly options: unknown
  /** What its options take. */
  readonly table: OptionTable
}

/**
 * Checks what an adapter was given. `call`: its function.
 *
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 * @example checkMount('createNodeListener', { gateway, options, table: mountTable })
 */
export function checkMount(call: string, { gateway, options, table }: Mount): void {
  if (typeof gateway?.infer !== 'function')
    throw new TypeError(
      `${call}: the first argument is not a gateway; it takes what \`createGateway\` makes of providers, models and a storage.`,
    )
  checkOptionTable({ call }, options === undefined ? {} : options, table)
}
