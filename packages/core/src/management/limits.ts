import type { CallLimits } from '../access/kinds.ts'
import { changedRecord } from '../access/records.ts'
import { toWire } from '../resources/wire.ts'
import { workspaceLimitFields } from '../resources/workspace.ts'
import type { CallSpecs } from './check-calls.ts'
import { findWorkspace } from './find-workspace.ts'
import type { WorkspaceContext } from './ports.ts'
import { given } from './wire-names.ts'

/** The limits of all keys of a workspace together. Each key has its own limits in addition. */
export interface WorkspaceLimits {
  /** Absent limits are those of `limits.workspace` of the gateway. */
  get(): Promise<CallLimits>
  /**
   * Changes limits. For the operator only, not available over HTTP. `null` removes a limit.
   *
   * @example await gateway.workspaces(id).limits.update({ tokensPerMinute: 200_000 })
   */
  update(input: { readonly [Limit in keyof CallLimits]?: number | null }): Promise<CallLimits>
}

export const limitsOf = ({ ports, workspaceId, actor }: WorkspaceContext): WorkspaceLimits => {
  const { records, commitWithAudit } = ports
  const workspace = () => findWorkspace(records, workspaceId)
  return {
    get: async () => (await workspace()).body.limits ?? {},
    async update(input) {
      return commitWithAudit(workspaceId, actor, async () => {
        const kept = await workspace()
        const limits = given<CallLimits>({ ...kept.body.limits, ...input })
        if (Object.keys(input).length === 0) return { events: [], result: limits }
        return {
          puts: [changedRecord(kept, { body: { limits } })],
          events: [{ event: 'limits.updated', subject: { type: 'limits', id: workspaceId }, changes: toWire(workspaceLimitFields, input) }],
          result: limits,
        }
      })
    },
  }
}

/** The argument checks of the methods. */
export const limitsCalls: CallSpecs<WorkspaceLimits> = { update: { input: { fields: workspaceLimitFields, mode: 'update' } } }
