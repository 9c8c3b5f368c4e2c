import type { WorkspaceSettings } from '../access/kinds.ts'
import { changed, type Kept } from '../access/records.ts'
import { dataPolicyDemands } from '../protocol/provider-facts.ts'
import { checkText, checkWhole, wrong } from './check.ts'
import { ownWorkspace } from './own.ts'
import type { Desk } from './ports.ts'
import { given, wireNames } from './wire-names.ts'

/** What is demanded of every call of the workspace. */
export interface Settings extends Omit<WorkspaceSettings, 'logRetentionDays' | 'dataPolicyRequired'> {
  readonly name: string
  readonly dataPolicyRequired: NonNullable<WorkspaceSettings['dataPolicyRequired']>
  readonly logRetentionDays: number
}

/** `null` takes a demand away. */
export type SettingsChange = {
  readonly [Field in keyof Settings]?: Field extends 'name' ? string : Settings[Field] | null
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
  const { records, register } = ports
  const workspace = () => ownWorkspace(records, workspaceId)
  return {
    get: async () => told(await workspace()),
    async update(input) {
      check(input)
      const updated = await register(workspaceId, actor, async () => {
        const kept = await workspace()
        if (Object.keys(input).length === 0) return { events: [], result: kept }
        const { name = kept.body.name, ...demands } = input
        const settings = given<WorkspaceSettings>({ ...kept.body.settings, ...demands })
        const body = { ...kept.body, name, settings }
        return {
          puts: [changed(kept, { body })],
          events: [{ event: 'settings.updated', subject: { type: 'settings', id: workspaceId }, changes: wireNames(input) }],
          result: { ...kept, body },
        }
      })
      return told(updated)
    },
  }
}

const told = ({ body: { name, settings } }: Kept<'workspace'>): Settings => ({
  dataPolicyRequired: 'any',
  logRetentionDays: usualRetentionDays,
  ...settings,
  name,
})

function check(input: SettingsChange): void {
  const { name, dataPolicyRequired, logRetentionDays, hedgeMaxExtraCost } = input
  if (name !== undefined) checkText('name', name)
  if (typeof dataPolicyRequired === 'string' && !dataPolicyDemands.includes(dataPolicyRequired))
    throw wrong('data_policy_required', dataPolicyRequired, `one of ${dataPolicyDemands.join(', ')}`)
  if (typeof logRetentionDays === 'number') checkWhole('log_retention_days', logRetentionDays, { min: 1, max: 365 })
  if (typeof hedgeMaxExtraCost === 'number' && !(hedgeMaxExtraCost >= 0 && hedgeMaxExtraCost <= 1_000))
    throw wrong('hedge_max_extra_cost', hedgeMaxExtraCost, 'USD, 0 to 1000')
  for (const [field, names] of Object.entries({
    allowed_providers: input.allowedProviders,
    blocked_providers: input.blockedProviders,
    allowed_models: input.allowedModels,
  }))
    if (names) checkNames(field, names)
}

/** Names need not be known: a provider may be blocked before it comes. */
export function checkNames(field: string, names: readonly string[]): void {
  if (names.length > mostNames) throw wrong(field, `${names.length} names`, `at most ${mostNames}`)
  for (const [at, name] of names.entries()) checkText(`${field}[${at}]`, name)
}
