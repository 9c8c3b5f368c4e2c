import type { Gateway } from '@signalbox/gateway'
import { checkOptionTable, type OptionTable, type OptionTableOf } from '@signalbox/storage/option-table'
import type { ClientLimits } from './client-limits.ts'
import type { ApiOptions } from './settings.ts'
import type { WebSocketLimits } from './websocket/limits.ts'

/** The options that all adapters share. */
export const mountTable: OptionTableOf<ApiOptions & ClientLimits> = {
  maxBodyBytes: 'number',
  maxUploadBytesPerWorkspace: 'number',
  maxUploadBytesPerUser: 'number',
  maxUploadBytes: 'number',
  firstContentWaitMs: 'number',
  keepAliveMs: 'number',
  webSockets: {
    maxConnectionsPerWorkspace: 'number',
    maxConnectionsPerUser: 'number',
    maxConnections: 'number',
    maxAgeMs: 'number',
    maxIdleMs: 'number',
    maxMessageBytes: 'number',
    maxWaiting: 'number',
    maxHistoryBytes: 'number',
    maxHistoryBytesPerWorkspace: 'number',
    maxHistoryBytesPerUser: 'number',
    maxHistoryBytesTotal: 'number',
  } satisfies OptionTableOf<WebSocketLimits>,
  maxExportRows: 'number',
  basePath: 'text',
  cors: 'object',
  authenticateMs: 'number',
  onRequest: 'function',
  bodyIdleMs: 'number',
  bodyBytesPerSecond: 'number',
  drainMs: 'number',
}

/** The arguments of an adapter. */
interface Mount {
  readonly gateway: Gateway
  readonly options: unknown
  /** The options that the adapter accepts. */
  readonly table: OptionTable
}

/**
 * Checks the arguments of an adapter. `call` is the name of its function.
 *
 * @throws {TypeError} The gateway is not one, or an option is unknown or has the wrong type.
 * @example checkMount('toNodeHandler', { gateway, options, table: mountTable })
 */
export function checkMount(call: string, { gateway, options, table }: Mount): void {
  if (typeof gateway?.infer !== 'function')
    throw new TypeError(
      `${call}: the first argument is not a gateway; it takes what \`createGateway\` makes of providers, models and a storage.`,
    )
  checkOptionTable({ call }, options === undefined ? {} : options, table)
}
