import { GatewayError } from '@signalbox/dialects/errors'
import { similarNames } from '@signalbox/storage/similar-names'
import type { ProviderRecord } from '@signalbox/workspaces'
import type { ApiReply } from '../api.ts'
import { didYouMean } from '../query.ts'
import type { Call } from '../route.ts'
import { listOf } from './registry.ts'
import { viewReply } from './views.ts'

/** Replies with the providers for which workspaces can add their own keys. */
export function byokProviders({ gateway, site }: Call): ApiReply {
  const { models } = gateway
  const view = site.views(models.version(), 'byok/providers', () =>
    listOf(
      models
        .providers()
        .filter(({ keyless }) => !keyless)
        .map(record => providerView(record, site.settings.basePath)),
    ),
  )
  return viewReply(view)
}

/** Replies with the account tiers of a provider. */
export function providerTiers({ gateway, site, params }: Call): ApiReply {
  const { models } = gateway
  const { id, tiers = [] } = providerNamed(params.provider ?? '', models.providers())
  const view = site.views(models.version(), JSON.stringify(['tiers', id]), () => {
    const data = tiers.map(({ tier, displayName, dataPolicy, qualification }) => ({
      tier,
      display_name: displayName,
      data_policy: dataPolicy,
      qualification,
    }))
    return { object: 'list', provider: id, data, count: data.length }
  })
  return viewReply(view)
}

function providerNamed(provider: string, providers: readonly ProviderRecord[]): ProviderRecord {
  const found = providers.find(({ id }) => id === provider)
  if (found !== undefined) return found
  const { sentence, ...facts } = didYouMean(
    similarNames(
      provider,
      providers.map(({ id }) => id),
    ),
  )
  throw new GatewayError('resource_not_found', {
    message: `There is no provider "${provider.slice(0, 100)}" here.${sentence}`,
    param: 'provider',
    ...facts,
  })
}

function providerView({ id, displayName, env = [] }: ProviderRecord, basePath: string): Readonly<Record<string, unknown>> {
  const [variable] = env
  return {
    provider: id,
    display_name: displayName,
    key_hint: variable && `As in the environment variable ${variable}`,
    // Without a host, because clients may reach the gateway under several names.
    tiers_url: `${basePath}/v1/byok/providers/${encodeURIComponent(id)}/tiers`,
  }
}
