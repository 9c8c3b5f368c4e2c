import type { CallLimits } from '@signalbox/core/access'
import { workspaceLimitFields } from '@signalbox/core/resources'
import { changeWorkspace } from './change-workspace.ts'
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

export const limitsOf = (context: WorkspaceContext): WorkspaceLimits => ({
  get: async () => (await findWorkspace(context.ports.records, context.workspaceId)).body.limits ?? {},
  async update(input) {
    const updated = await changeWorkspace(context, { type: 'limits', fields: workspaceLimitFields, input }, ({ limits }) => ({
      limits: given<CallLimits>({ ...limits, ...input }),
    }))
    return updated.limits ?? {}
  },
})
