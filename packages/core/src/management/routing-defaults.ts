import type { RoutingDefaults as Defaults } from '../access/kinds.ts'
import { changed } from '../access/records.ts'
import { checkWhole, wrong } from './check.ts'
import { checkKnown, type Directory, type NamedLists, type NameWarning, warningsOf } from './known-names.ts'
import { ownWorkspace } from './own.ts'
import type { Desk } from './ports.ts'
import { checkNames } from './settings.ts'
import { given, wireNames } from './wire-names.ts'

/** How requests of the workspace are routed that do not say so themselves. `null` takes a default away. */
export type RoutingDefaultsChange = { readonly [Field in keyof Defaults]?: Defaults[Field] | null }

export interface LaidDownDefaults extends Defaults {
  /** Names in the lists that are not known any more. Absent: all are known. */
  readonly warnings?: readonly NameWarning[]
}

export interface RoutingDefaultsDesk {
  get(): Promise<LaidDownDefaults>
  /** @example await gateway.workspaces(id).routingDefaults.update({ strategy: 'latency', ignore: ['slow-one'] }) */
  update(input: RoutingDefaultsChange): Promise<LaidDownDefaults>
}

export function routingDefaultsOf({ ports, workspaceId, actor }: Desk): RoutingDefaultsDesk {
  const { records, register, strategies, models } = ports
  const workspace = () => ownWorkspace(records, workspaceId)
  return {
    get: async () => told((await workspace()).body.routing ?? {}, models),
    async update(input) {
      check(input, strategies)
      const routing = await register(workspaceId, actor, async () => {
        const kept = await workspace()
        if (Object.keys(input).length === 0) return { events: [], result: kept.body.routing ?? {} }
        checkKnown(models, listsOf(input), listsOf(kept.body.routing ?? {}))
        const routing = given<Defaults>({ ...kept.body.routing, ...input })
        checkTogether(routing)
        return {
          puts: [changed(kept, { body: { routing } })],
          events: [
            { event: 'routing_defaults.updated', subject: { type: 'routing_defaults', id: workspaceId }, changes: wireNames(input) },
          ],
          result: routing,
        }
      })
      return told(routing, models)
    },
  }
}

function told(routing: Defaults, models: Directory): LaidDownDefaults {
  const warnings = warningsOf(models, listsOf(routing))
  return warnings.length > 0 ? { ...routing, warnings } : routing
}

const listsOf = ({ order, only, ignore }: RoutingDefaultsChange): NamedLists => ({ order, only, ignore })

/** A day: what is longer was meant in another unit. */
const longestMs = 86_400_000

function check(input: RoutingDefaultsChange, strategies: readonly string[]): void {
  const { strategy, maxPrice, timeoutMs, deadlineMs, order, only, ignore } = input
  if (typeof strategy === 'string' && !strategies.includes(strategy)) throw wrong('strategy', strategy, { oneOf: strategies })
  if (typeof timeoutMs === 'number') checkWhole('timeout_ms', timeoutMs, { min: 1, max: longestMs })
  if (typeof deadlineMs === 'number') checkWhole('deadline_ms', deadlineMs, { min: 1, max: longestMs })
  for (const [field, names] of Object.entries({ order, only, ignore })) if (names) checkNames(field, names)
  for (const [side, price] of Object.entries(maxPrice ?? {}))
    if (!(Number.isFinite(price) && price >= 0)) throw wrong(`max_price.${side}`, price, 'USD per million tokens, 0 or more')
}

/** What no request could be served with. */
function checkTogether({ only, ignore = [] }: Defaults): void {
  if (only && only.length > 0 && only.every(name => ignore.includes(name)))
    throw wrong('ignore', ignore.join(', '), 'names that leave somebody of `only`')
}
