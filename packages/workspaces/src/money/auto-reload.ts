import type { WorkspaceBody } from '@signalbox/core/access'
import { changedRecord, type Records } from '@signalbox/core/access'
import { type AutoReloadChange, autoReloadFields, type CreditBalance, invalidValue } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import { changeWorkspace } from '../change-workspace.ts'
import type { WorkspaceContext } from '../ports.ts'
import { reloadReference } from './reloads.ts'

/** Automatic payment of credit when it runs low. */
export interface AutoReload {
  /**
   * Changes the settings. When credit falls below `threshold`, the operator's `billing.onReload` is called to pay the difference to `target`.
   *
   * @example await gateway.workspaces(id).billing.autoReload.update({ enabled: true, threshold: usd(5), target: usd(20) })
   */
  update(input: AutoReloadChange): Promise<CreditBalance>
}

export const autoReloadOf = (context: WorkspaceContext, balance: () => Promise<CreditBalance>): AutoReload => ({
  async update(input) {
    const { ports, workspaceId } = context
    if (input.enabled && !ports.reloads) throw impossible()
    await changeWorkspace(context, { type: 'auto_reload', fields: autoReloadFields, input }, kept => withChange(kept, input, ports))
    // Credit may be low already. Then no request would be admitted that could trigger a reload.
    ports.reloads?.look(workspaceId)
    return balance()
  },
})

function withChange(
  { autoReload }: WorkspaceBody,
  input: AutoReloadChange,
  { isForSetup }: Pick<WorkspaceContext['ports'], 'isForSetup'>,
): Pick<WorkspaceBody, 'autoReload'> {
  const { enabled = false, threshold, target } = { ...autoReload, ...input }
  if (!enabled && threshold === undefined && target === undefined) return {}
  if (threshold === undefined) throw missing('threshold')
  if (target === undefined) throw missing('target')
  // An amount that `setup` leaves out is the workspace’s, which may have changed it since.
  if (target <= threshold && isForSetup && (input.threshold === undefined || input.target === undefined)) return {}
  if (target <= threshold) throw invalidValue('target', target, `more than \`threshold\`, ${threshold}`)
  return { autoReload: { enabled, threshold, target } }
}

const missing = (param: string): GatewayError =>
  new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing, and no earlier value is stored.`, param })

const impossible = (): GatewayError =>
  new GatewayError('operation_not_allowed', {
    message: 'This gateway cannot reload credit: its operator has not set `billing.onReload`. Add credit manually.',
    param: 'enabled',
  })

/** Marks a reload as paid, in the same commit as the credit that it requested. */
export async function paidPart(records: Records, workspaceId: string, reference: string): Promise<readonly RecordPut[]> {
  const reload = await records.find('reload', workspaceId, workspaceId)
  const isIt = reload && !reload.body.isPaid && reloadReference(workspaceId, reload.body.number) === reference
  return isIt ? [changedRecord(reload, { body: { isPaid: true } })] : []
}
