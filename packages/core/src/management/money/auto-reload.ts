import type { RecordPut } from '@signalbox/storage'
import type { WorkspaceBody } from '../../access/kinds.ts'
import { changed, type Kept, type Records } from '../../access/records.ts'
import { GatewayError } from '../../errors/gateway-error.ts'
import { checkWhole, wrong } from '../check.ts'
import { ownWorkspace } from '../own.ts'
import type { Desk } from '../ports.ts'
import type { CreditBalance } from './billing.ts'
import { reloadReference } from './reloads.ts'

export interface AutoReload {
  /**
   * Below `threshold` the operator's `billing.onReload` is asked to pay in what is missing to `target`.
   *
   * @example await gateway.workspaces(id).billing.autoReload.update({ enabled: true, threshold: 5_000_000, target: 20_000_000 })
   */
  update(input: AutoReloadChange): Promise<CreditBalance>
}

/** Microdollars. What is not said stays as it is. */
export interface AutoReloadChange {
  readonly enabled?: boolean
  /** 0 or more. */
  readonly threshold?: number
  /** More than the threshold. */
  readonly target?: number
}

const most = 1e15

export const autoReloadOf = (desk: Desk, balance: () => Promise<CreditBalance>): AutoReload => ({
  async update(input) {
    const { ports, workspaceId, actor } = desk
    check(input)
    if (input.enabled && !ports.reloads) throw impossible()
    await ports.register(workspaceId, actor, async () => {
      const workspace = await ownWorkspace(ports.records, workspaceId)
      if (Object.keys(input).length === 0) return { events: [], result: undefined }
      const { enabled, threshold, target } = input
      const events = [
        {
          event: 'auto_reload.updated',
          subject: { type: 'auto_reload', id: workspaceId },
          changes: {
            ...(enabled !== undefined && { enabled }),
            ...(threshold !== undefined && { threshold_microdollars: threshold }),
            ...(target !== undefined && { target_microdollars: target }),
          },
        },
      ]
      return { puts: [changed(workspace, { body: withChange(workspace, input) })], events, result: undefined }
    })
    // Credit may be low already, and then no request would come through that could tell.
    ports.reloads?.look(workspaceId)
    return balance()
  },
})

function withChange({ body: { autoReload } }: Kept<'workspace'>, input: AutoReloadChange): Pick<WorkspaceBody, 'autoReload'> {
  const { enabled = false, threshold, target } = { ...autoReload, ...input }
  if (!enabled && threshold === undefined && target === undefined) return {}
  if (threshold === undefined) throw missing('threshold_microdollars')
  if (target === undefined) throw missing('target_microdollars')
  if (target <= threshold) throw wrong('target_microdollars', target, `more than \`threshold_microdollars\`, ${threshold}`)
  return { autoReload: { enabled, threshold, target } }
}

function check({ threshold, target }: AutoReloadChange): void {
  if (threshold !== undefined) checkWhole('threshold_microdollars', threshold, { min: 0, max: most })
  if (target !== undefined) checkWhole('target_microdollars', target, { min: 1, max: most })
}

const missing = (param: string): GatewayError =>
  new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing, and was never said before.`, param })

const impossible = (): GatewayError =>
  new GatewayError('operation_not_allowed', {
    message: 'This gateway cannot reload credit: its operator has set no `billing.onReload`. Add credit by hand.',
    param: 'enabled',
  })

/** What a credit means for the reload that asked for it: it is over, in the same step. */
export async function paidPart(records: Records, workspaceId: string, reference: string): Promise<readonly RecordPut[]> {
  const reload = await records.find('reload', workspaceId, workspaceId)
  const isIt = reload && !reload.body.isPaid && reloadReference(workspaceId, reload.body.number) === reference
  return isIt ? [changed(reload, { body: { isPaid: true } })] : []
}
