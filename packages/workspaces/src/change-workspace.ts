import type { WorkspaceBody } from '@signalbox/core/access'
import { type BodyChanges, changedRecord } from '@signalbox/core/access'
import type { Fields } from '@signalbox/core/resources'
import { toWire } from '@signalbox/core/resources'
import { findWorkspace } from './find-workspace.ts'
import type { WorkspaceContext } from './ports.ts'

/** A part of a workspace's record: the type of its audit events, and its fields. */
interface WorkspacePart {
  readonly type: 'settings' | 'routing_defaults' | 'limits' | 'subscription' | 'auto_reload'
  readonly fields: Fields
}

/** Changes a part of a workspace's record, with an audit row. An input without fields changes nothing. Returns the body. */
export const changeWorkspace = (
  { ports: { records, commitWithAudit }, workspaceId, actor }: WorkspaceContext,
  { type, fields, input }: WorkspacePart & { readonly input: object },
  change: (kept: WorkspaceBody) => BodyChanges<'workspace'>,
): Promise<WorkspaceBody> =>
  commitWithAudit(workspaceId, actor, async () => {
    const workspace = await findWorkspace(records, workspaceId)
    if (Object.keys(input).length === 0) return { events: [], result: workspace.body }
    const body = change(workspace.body)
    return {
      puts: [changedRecord(workspace, { body })],
      events: [{ event: `${type}.updated`, subject: { type, id: workspaceId }, changes: toWire(fields, input) }],
      result: { ...workspace.body, ...body } as WorkspaceBody,
    }
  })
