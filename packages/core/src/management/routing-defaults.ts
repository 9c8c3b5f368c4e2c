import { changedRecord } from '../access/records.ts'
import { invalidValue } from '../resources/invalid-value.ts'
import { type RoutingDefaults as Defaults, type RoutingDefaultsChange, routingDefaultsFields } from '../resources/settings.ts'
import { toWire } from '../resources/wire.ts'
import type { CallSpecs } from './check-calls.ts'
import { findWorkspace } from './find-workspace.ts'
import { checkKnown, type Directory, type NamedLists, type NameWarning, warningsOf } from './known-names.ts'
import type { WorkspaceContext } from './ports.ts'
import { defined, given } from './wire-names.ts'

/** The routing defaults of a workspace, with warnings about names that are no longer known. */
export interface RoutingDefaultsRecord extends Defaults {
  /** Names in the lists that are no longer known. Absent if all are known. */
  readonly warnings?: readonly NameWarning[]
}

export interface RoutingDefaultsResource {
  get(): Promise<RoutingDefaultsRecord>
  /** @example await gateway.workspaces(id).routingDefaults.update({ strategy: 'latency', ignore: ['slow-one'] }) */
  update(input: RoutingDefaultsChange): Promise<RoutingDefaultsRecord>
}

export function routingDefaultsOf({ ports, workspaceId, actor }: WorkspaceContext): RoutingDefaultsResource {
  const { records, commitWithAudit, strategies, models } = ports
  const workspace = () => findWorkspace(records, workspaceId)
  return {
    get: async () => defaultsRecordOf((await workspace()).body.routing ?? {}, models),
    async update(input) {
      const { strategy } = input
      if (typeof strategy === 'string' && !strategies.includes(strategy)) throw invalidValue('strategy', strategy, { oneOf: strategies })
      const routing = await commitWithAudit(workspaceId, actor, async () => {
        const kept = await workspace()
        if (Object.keys(input).length === 0) return { events: [], result: kept.body.routing ?? {} }
        checkKnown(models, listsOf(input), listsOf(kept.body.routing ?? {}))
        const routing = given<Defaults>({ ...kept.body.routing, ...input })
        checkTogether(routing)
        return {
          puts: [changedRecord(kept, { body: { routing } })],
          events: [
            {
              event: 'routing_defaults.updated',
              subject: { type: 'routing_defaults', id: workspaceId },
              changes: toWire(routingDefaultsFields, input),
            },
          ],
          result: routing,
        }
      })
      return defaultsRecordOf(routing, models)
    },
  }
}

function defaultsRecordOf(routing: Defaults, models: Directory): RoutingDefaultsRecord {
  const warnings = warningsOf(models, listsOf(routing))
  return warnings.length > 0 ? { ...routing, warnings } : routing
}

const listsOf = ({ order, only, ignore }: RoutingDefaultsChange): NamedLists => defined({ order, only, ignore })

/** Throws for lists with which no request could be served. */
function checkTogether({ only, ignore = [] }: Defaults): void {
  if (only && only.length > 0 && only.every(name => ignore.includes(name)))
    throw invalidValue('ignore', ignore.join(', '), 'names that leave somebody of `only`')
}

/** The argument checks of the methods. */
export const routingDefaultsCalls: CallSpecs<RoutingDefaultsResource> = {
  update: { input: { fields: routingDefaultsFields, mode: 'update' } },
}
