import type { WorkspaceSettings } from '../access/kinds.ts'
import { changed, type Kept } from '../access/records.ts'
import { dataPolicyDemands } from '../protocol/provider-facts.ts'
import { checkText, checkWhole, wrong } from './check.ts'
import { checkKnown, type Directory, type NamedLists, type NameWarning, warningsOf } from './known-names.ts'
import { ownWorkspace } from './own.ts'
import type { Desk } from './ports.ts'
import { given, wireNames } from './wire-names.ts'

/** What is demanded of every call of the workspace. */
export interface Settings extends Omit<WorkspaceSettings, 'logRetentionDays' | 'dataPolicyRequired'> {
  readonly name: string
  readonly dataPolicyRequired: NonNullable<WorkspaceSettings['dataPolicyRequired']>
  readonly logRetentionDays: number
  /** Names in the lists that are not known any more. Absent: all are known. */
  readonly warnings?: readonly NameWarning[]
}

/** `null` takes a demand away. */
export type SettingsChange = {
  readonly [Field in Exclude<keyof Settings, 'warnings'>]?: Field extends 'name' ? string : Settings[Field] | null
}

export interface SettingsDesk {
  get(): Promise<Settings>
  /** @example await gateway.workspaces(id).settings.update({ dataPolicyRequired: 'zdr', logRetentionDays: 30 }) */
  update(input: SettingsChange): Promise<Settings>
}

const usualRetentionDays = 365
/** Of each list. */
const mostNames = 200

export function settingsOf({ ports, workspaceId, actor }: Desk): SettingsDesk {
  const { records, register, models } = ports
  const workspace = () => ownWorkspace(records, workspaceId)
  return {
    get: async () => told(await workspace(), models),
    async update(input) {
      check(input)
      const updated = await register(workspaceId, actor, async () => {
        const kept = await workspace()
        if (Object.keys(input).length === 0) return { events: [], result: kept }
        checkKnown(models, listsOf(input), listsOf(kept.body.settings ?? {}))
        const { name = kept.body.name, ...demands } = input
        const settings = given<WorkspaceSettings>({ ...kept.body.settings, ...demands })
        const body = { ...kept.body, name, settings }
        return {
          puts: [changed(kept, { body })],
          events: [{ event: 'settings.updated', subject: { type: 'settings', id: workspaceId }, changes: wireNames(input) }],
          result: { ...kept, body },
        }
      })
      return told(updated, models)
    },
  }
}

function told({ body: { name, settings } }: Kept<'workspace'>, models: Directory): Settings {
  const warnings = warningsOf(models, listsOf(settings ?? {}))
  const laidDown = { dataPolicyRequired: 'any', logRetentionDays: usualRetentionDays, ...settings, name } as const
  return { ...laidDown, ...(warnings.length > 0 && { warnings }) }
}

const listsOf = ({ allowedProviders, blockedProviders, allowedModels }: SettingsChange): NamedLists => ({
  allowed_providers: allowedProviders,
  blocked_providers: blockedProviders,
  allowed_models: allowedModels,
})

function check(input: SettingsChange): void {
  const { name, dataPolicyRequired, logRetentionDays, hedgeMaxExtraCost } = input
  if (name !== undefined) checkText('name', name)
  if (typeof dataPolicyRequired === 'string' && !dataPolicyDemands.includes(dataPolicyRequired))
    throw wrong('data_policy_required', dataPolicyRequired, `one of ${dataPolicyDemands.join(', ')}`)
  if (typeof logRetentionDays === 'number') checkWhole('log_retention_days', logRetentionDays, { min: 1, max: 365 })
  if (typeof hedgeMaxExtraCost === 'number' && !(hedgeMaxExtraCost >= 0 && hedgeMaxExtraCost <= 1_000))
    throw wrong('hedge_max_extra_cost', hedgeMaxExtraCost, 'USD, 0 to 1000')
  for (const [field, names] of Object.entries(listsOf(input))) if (names) checkNames(field, names)
}

/** As far as names can be wrong whatever there is; see `checkKnown`. */
export function checkNames(field: string, names: readonly string[]): void {
  if (names.length > mostNames) throw wrong(field, `${names.length} names`, `at most ${mostNames}`)
  for (const [at, name] of names.entries()) checkText(`${field}[${at}]`, name)
}
