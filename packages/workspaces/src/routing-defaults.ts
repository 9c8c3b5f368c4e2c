import {
  type RoutingDefaults as Defaults,
  invalidValue,
  type RoutingDefaultsChange,
  routingDefaultsFields,
} from '@signalbox/core/resources'
import { changeWorkspace } from './change-workspace.ts'
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

export function routingDefaultsOf(context: WorkspaceContext): RoutingDefaultsResource {
  const { records, strategies, models, isForSetup } = context.ports
  return {
    get: async () => defaultsRecordOf((await findWorkspace(records, context.workspaceId)).body.routing ?? {}, models),
    async update(input) {
      const { strategy } = input
      if (typeof strategy === 'string' && !strategies.includes(strategy)) throw invalidValue('strategy', strategy, { oneOf: strategies })
      const part = { type: 'routing_defaults', fields: routingDefaultsFields, input } as const
      const updated = await changeWorkspace(context, part, kept => {
        checkKnown(context, listsOf(input), listsOf(kept.routing ?? {}))
        const routing = given<Defaults>({ ...kept.routing, ...input })
        if (isUsable(routing)) return { routing }
        // A list of the workspace does not decide whether `setup` succeeds: only the lists that `setup` passes stay.
        const own = given<Defaults>({ ...kept.routing, only: undefined, ignore: undefined, ...input })
        if (isForSetup && isUsable(own)) return { routing: own }
        throw invalidValue('ignore', routing.ignore?.join(', '), 'names that leave a provider of `only`')
      })
      return defaultsRecordOf(updated.routing ?? {}, models)
    },
  }
}

function defaultsRecordOf(routing: Defaults, models: Directory): RoutingDefaultsRecord {
  const warnings = warningsOf(models, listsOf(routing))
  return warnings.length > 0 ? { ...routing, warnings } : routing
}

const listsOf = ({ order, only, ignore }: RoutingDefaultsChange): NamedLists => defined({ order, only, ignore })

/** Whether the lists leave a provider that could serve a request. */
const isUsable = ({ only, ignore = [] }: Defaults): boolean => !only || only.length === 0 || !only.every(name => ignore.includes(name))
