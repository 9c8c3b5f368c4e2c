import type { WorkspaceBody } from '@signalbox/core/access'
import type { WorkspaceSettings } from '@signalbox/core/resources'
import { type SettingsChange, type SettingsRecord, settingsFields } from '@signalbox/core/resources'
import { changeWorkspace } from './change-workspace.ts'
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

export function settingsOf(context: WorkspaceContext): SettingsResource {
  const { records, models } = context.ports
  return {
    get: async () => settingsRecordOf((await findWorkspace(records, context.workspaceId)).body, models),
    async update(input) {
      const updated = await changeWorkspace(context, { type: 'settings', fields: settingsFields, input }, kept => {
        checkKnown(context, listsOf(input), listsOf(kept.settings ?? {}))
        const { name = kept.name, ...demands } = input
        return { name, settings: given<WorkspaceSettings>({ ...kept.settings, ...demands }) }
      })
      return settingsRecordOf(updated, models)
    },
  }
}

function settingsRecordOf({ name, settings }: WorkspaceBody, models: Directory): Settings {
  const warnings = warningsOf(models, listsOf(settings ?? {}))
  const defaults = { dataPolicyRequired: 'any', blockedProviders: [], logRetentionDays: 365, ownKeysOnly: false } as const
  return { ...defaults, ...settings, name, ...(warnings.length > 0 && { warnings }) }
}

const listsOf = ({ allowedProviders, blockedProviders, allowedModels }: SettingsChange): NamedLists =>
  defined({ allowedProviders, blockedProviders, allowedModels })
