import { type CodeNames, roundUsd, withCodeNames } from '@signalbox/dialects/protocol'
import type { GatewayOptions } from '@signalbox/gateway'
import type { ServeOptions } from '@signalbox/node-http'
import { type Config, gatewayLimits, serverLimits, webSocketLimits } from './schema.ts'
import { gatewayTimeouts, serverTimeouts } from './schema-timeouts.ts'
import { hasPrimary } from './workers/worker-count.ts'

/** The gateway options that the config sets. */
export const gatewayOptions = ({ workers, limits, timeouts, ...config }: Config): Partial<GatewayOptions> => ({
  ownedBy: config.owned_by,
  strategy: config.strategy,
  hedge: config.hedge,
  ...(config.max_hedge_cost_usd !== undefined && { maxHedgeCost: roundUsd(config.max_hedge_cost_usd) }),
  decisionLog: config.decision_log,
  // The next request of a conversation may reach another worker.
  storedItems: config.stored_items && { store: hasPrimary({ workers }), ...withCodeNames(config.stored_items) },
  limits: optionsOf(limits, gatewayLimits),
  timeouts: optionsOf(timeouts, gatewayTimeouts),
})

/** The HTTP server options that the config sets. */
export const serverOptions = ({ host, port, cors_origins, limits, web_sockets, timeouts }: Config): ServeOptions => ({
  host,
  port,
  ...(cors_origins !== undefined && { cors: { origins: cors_origins } }),
  ...optionsOf(limits, serverLimits),
  webSockets: optionsOf(web_sockets, webSocketLimits),
  ...optionsOf(timeouts, serverTimeouts),
})

/** The fields of a section that a table contains, with the names that they have in code. */
const optionsOf = <Section extends object, Table extends object>(
  section: Section,
  table: Table,
): CodeNames<Pick<Section, keyof Section & keyof Table>> =>
  withCodeNames(Object.fromEntries(Object.entries(section).filter(([name]) => Object.hasOwn(table, name)))) as never
