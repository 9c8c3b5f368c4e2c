import type { ApiOptions } from '@signalbox/api'
import type { Transport } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { afterAll, beforeAll } from 'vitest'
import { type ChaosProvider, chaosProvider } from '../chaos-provider.ts'
import { fasterClock } from '../faster-clock.ts'
import { type TestGateway, testGateway } from '../gateway.ts'

/** Options of an adapter other than the gateway. */
export type AdapterOptions = Pick<ApiOptions, 'maxBodyBytes'>

export interface Started {
  /** As in `http://127.0.0.1:49152`, followed by the mount path, if any. */
  readonly url: string
  close(): Promise<void>
}

export type StartAdapter = (gateway: Gateway, options: AdapterOptions) => Promise<Started>

/** The fixture of one group of tests, set up before the first of them. */
export interface Fixture {
  readonly upstream: ChaosProvider
  readonly url: string
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Staging {
  readonly start: StartAdapter
  readonly options?: AdapterOptions
  readonly transport?: () => Transport
}

/** Starts a provider, a gateway and the adapter around the tests of the enclosing group. */
export function createFixture({ start, options = {}, transport }: Staging): () => Fixture {
  let fixture: Fixture | undefined
  let test: TestGateway | undefined
  let started: Started | undefined
  beforeAll(async () => {
    const upstream = await chaosProvider()
    test = await testGateway({
      servers: [upstream],
      dialect: 'chat',
      clock: fasterClock(5),
      // One of the responses is 18 MiB long.
      limits: { attempts: 1, maxOutputTokens: 7_000_000 },
      ...(transport && { transport: transport() }),
    })
    started = await start(test.gateway, options)
    const headers = { authorization: `Bearer ${test.secret}`, 'content-type': 'application/json' }
    fixture = { upstream, url: started.url, secret: test.secret, headers }
  })
  afterAll(async () => {
    await started?.close()
    await test?.close()
    await fixture?.upstream.close()
  })
  return () => {
    if (!fixture) throw new Error('The fixture is there only while tests run.')
    return fixture
  }
}

export const question = (model: string, stream: boolean): string => JSON.stringify({ model, input: 'Tell me about signals.', stream })

export const inferencePath = '/v1/responses'
