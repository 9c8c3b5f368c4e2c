import type { WorkspaceSettings } from '../access/kinds.ts'
import { changedRecord, type TypedRecord } from '../access/records.ts'
import { type SettingsChange, type SettingsRecord, settingsFields } from '../resources/settings.ts'
import { toWire } from '../resources/wire.ts'
import type { CallSpecs } from './check-calls.ts'
import { findWorkspace } from './find-workspace.ts'
import { checkKnown, type Directory, type NamedLists, type NameWarning, warningsOf } from './known-names.ts'
import type { WorkspaceContext } from './ports.ts'
import { defined, given } from './wire-names.ts'

/** Requirements for every request of the workspace. */
export interface Settings extends SettingsRecord {
  /** Names in the lists that are no longer known. Absent if all are known. */
  readonly warnings?: readonly NameWarning[]
}

export interface SettingsResource {
  get(): Promise<Settings>
  /** @example await gateway.workspaces(id).settings.update({ dataPolicyRequired: 'zdr', logRetentionDays: 30 }) */
  update(input: SettingsChange): Promise<Settings>
}

export function settingsOf({ ports, workspaceId, actor }: WorkspaceContext): SettingsResource {
  const { records, commitWithAudit, models } = ports
  const workspace = () => findWorkspace(records, workspaceId)
  return {
    get: async () => settingsRecordOf(await workspace(), models),
    async update(input) {
      const updated = await commitWithAudit(workspaceId, actor, async () => {
        const kept = await workspace()
        if (Object.keys(input).length === 0) return { events: [], result: kept }
        checkKnown(models, listsOf(input), listsOf(kept.body.settings ?? {}))
        const { name = kept.body.name, ...demands } = input
        const settings = given<WorkspaceSettings>({ ...kept.body.settings, ...demands })
        const body = { ...kept.body, name, settings }
        return {
          puts: [changedRecord(kept, { body })],
          events: [{ event: 'settings.updated', subject: { type: 'settings', id: workspaceId }, changes: toWire(settingsFields, input) }],
          result: { ...kept, body },
        }
      })
      return settingsRecordOf(updated, models)
    },
  }
}

function settingsRecordOf({ body: { name, settings } }: TypedRecord<'workspace'>, models: Directory): Settings {
  const warnings = warningsOf(models, listsOf(settings ?? {}))
  const defaults = { dataPolicyRequired: 'any', blockedProviders: [], logRetentionDays: 365, ownKeysOnly: false } as const
  return { ...defaults, ...settings, name, ...(warnings.length > 0 && { warnings }) }
}

const listsOf = ({ allowedProviders, blockedProviders, allowedModels }: SettingsChange): NamedLists =>
  defined({ allowedProviders, blockedProviders, allowedModels })

/** The argument checks of the methods. */
export const settingsCalls: CallSpecs<SettingsResource> = { update: { input: { fields: settingsFields, mode: 'update' } } }
