import { invalidValue } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { AccountTier } from '@signalbox/dialects/protocol'
import { type Credential, isObject, type Provider, takesOwnKeys } from '@signalbox/dialects/protocol'
import { similarNames } from '@signalbox/storage/similar-names'

const wrongField = (param: string, message: string, suggestion?: string): GatewayError =>
  new GatewayError('invalid_parameter_value', { message, param, ...(suggestion !== undefined && { suggestion }) })

export function providerNamed(id: string, providers: ReadonlyMap<string, Provider>): Provider {
  const found = providers.get(id)
  const takers = [...providers.values()].filter(takesOwnKeys).map(provider => provider.id)
  if (!found) {
    const [near] = similarNames(id, takers)
    const hint = near === undefined ? undefined : `Did you mean "${near}"?`
    const way = hint ?? `Providers that accept BYOK keys: ${takers.join(', ') || 'none'}.`
    throw wrongField('provider', `There is no provider "${id.slice(0, 100)}" here. ${way}`, hint)
  }
  if (!takesOwnKeys(found))
    throw invalidValue('provider', id, `a provider that accepts BYOK keys: ${takers.join(', ') || 'there is none here'}`)
  return found
}

/** Visible ASCII, 8 to 4,096 characters. Accounts in JSON are normalized. The error never contains the key. */
export function secretOf(text: string, { id, account }: Provider): string {
  if (text.trimStart().startsWith('{')) {
    if (!account?.json) throw wrongField('apiKey', `\`apiKey\` is JSON, but a key for "${id}" is a string without spaces.`)
    const secret = text.length > maxJsonLength ? undefined : asOneLine(text)
    if (secret === undefined)
      throw wrongField(
        'apiKey',
        `\`apiKey\` starts like a JSON object, but is not a valid object of up to ${maxJsonLength} ASCII characters.`,
      )
    return secret
  }
  if (!/^[\x21-\x7e]{8,4096}$/.test(text)) throw wrongField('apiKey', '`apiKey` takes 8 to 4096 visible ASCII characters without spaces.')
  return text
}

const maxJsonLength = 16_384

function asOneLine(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const line = isObject(value) ? JSON.stringify(value) : ''
    return /^[\x20-\x7e]+$/.test(line) ? line : undefined
  } catch {
    return undefined
  }
}

/** The displayable end of a secret, at most a quarter of it. Empty for a secret in JSON. */
export const shownOf = (secret: string): string =>
  `${secret.startsWith('{') ? '{' : secret.slice(0, Math.min(8, Math.floor(secret.length / 4)))}…`

/** Checks the additional account fields that the provider needs. */
export function checkExtra(extra: Readonly<Record<string, string>>, provider: Provider): void {
  const { id, account, dialects } = provider
  const names = account?.extra ?? []
  for (const [name, value] of Object.entries(extra)) {
    if (!names.includes(name))
      throw wrongField(
        'extra',
        `\`extra\` of a key for "${id}" takes ${names.length === 0 ? 'nothing' : names.join(', ')}; it has no field "${name.slice(0, 60)}".`,
      )
    if (!/^[A-Za-z0-9][\w.:@-]{0,127}$/.test(value)) throw invalidValue(`extra.${name}`, value, 'letters, digits and - _ . : @, up to 128')
  }
  const [dialect] = dialects
  const credential: Credential = { id: '', owner: 'workspace', secret: '{}', extra }
  try {
    if (dialect) provider.endpoint({ api: dialect.name, model: 'm', stream: false, credential })
  } catch (error) {
    throw wrongField('extra', error instanceof Error ? error.message : `These fields give no valid address for "${id}".`)
  }
}

export function checkTier(tier: string, provider: string, tiers: readonly AccountTier[]): void {
  if (tiers.some(each => each.tier === tier)) return
  if (tiers.length === 0) throw wrongField('accountTier', `"${provider}" has no known account tiers. Remove \`accountTier\`.`)
  throw invalidValue('accountTier', tier, `a tier of "${provider}": ${tiers.map(each => each.tier).join(', ')}`)
}
