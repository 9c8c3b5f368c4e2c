import type { CallLimits } from '../access/kinds.ts'
import { changed } from '../access/records.ts'
import { checkWhole } from './check.ts'
import { ownWorkspace } from './own.ts'
import type { Desk } from './ports.ts'
import { given, wireNames } from './wire-names.ts'

/** What all keys of the workspace together may do; each of them has limits of its own beside it. */
export interface LimitsDesk {
  /** Absent: as `limits.workspace` of the gateway says. */
  get(): Promise<CallLimits>
  /**
   * The operator's business: not to be had over HTTP. `null` takes a limit away.
   *
   * @example await gateway.workspaces(id).limits.update({ tokensPerMinute: 200_000 })
   */
  update(input: { readonly [Limit in keyof CallLimits]?: number | null }): Promise<CallLimits>
}

export const limitsOf = ({ ports, workspaceId, actor }: Desk): LimitsDesk => {
  const { records, register } = ports
  const workspace = () => ownWorkspace(records, workspaceId)
  return {
    get: async () => (await workspace()).body.limits ?? {},
    async update(input) {
      for (const [name, limit] of Object.entries(wireNames(input))) if (typeof limit === 'number') checkWhole(name, limit)
      return register(workspaceId, actor, async () => {
        const kept = await workspace()
        const limits = given<CallLimits>({ ...kept.body.limits, ...input })
        if (Object.keys(input).length === 0) return { events: [], result: limits }
        return {
          puts: [changed(kept, { body: { limits } })],
          events: [{ event: 'limits.updated', subject: { type: 'limits', id: workspaceId }, changes: wireNames(input) }],
          result: limits,
        }
      })
    },
  }
}
