import type { Clock } from '@signalbox/core/runtime'
import { gatewayFetch } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'
import { onTestFinished } from 'vitest'
import type { Act } from '../../src/index.ts'
import { type ScriptedProvider, scriptedProvider, testGateway } from '../../src/index.ts'
import type { ProviderTraits } from './provider-traits.ts'
import type { Client, Conversation, Testbed } from './sdk-response.ts'

/** The client and provider dialects, and the delivery. */
export interface Pair {
  readonly client: Client
  readonly provider: ProviderTraits
  /** Of another dialect than `provider`. */
  readonly other: ProviderTraits
  readonly stream: boolean
}

export interface Fixture {
  readonly first: ScriptedProvider
  readonly second: ScriptedProvider
  readonly talk: Conversation
}

/** A gateway, and how to reach it. */
export type OpenTestbed = Required<Testbed> & { readonly gateway: Gateway }

/** A gateway without a network, for the length of a test. */
export async function openTestbed(providers: readonly ScriptedProvider[], clock?: Clock): Promise<OpenTestbed> {
  const { gateway, secret, close } = await testGateway({ providers, ...(clock && { clock }) })
  onTestFinished(close)
  return { secret, url: 'http://signalbox.local', fetch: gatewayFetch(gateway), gateway }
}

/** A gateway with one provider, or with two: the second is called when the first fails. */
export async function openFixture(
  { client, provider, other }: Pair,
  script: readonly Act[],
  fallback: readonly Act[] = [],
): Promise<Fixture> {
  const first = scriptedProvider({ id: 'first', dialect: provider.dialect, acts: script })
  const second = scriptedProvider({ id: 'second', dialect: other.dialect, acts: fallback })
  const testbed = await openTestbed(fallback.length > 0 ? [first, second] : [first])
  return { first, second, talk: client.converse(testbed) }
}
