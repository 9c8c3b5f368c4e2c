import type { Frame, JsonObject, Model, Offer, Provider, ProviderDialect, ResponseMetadata } from '@signalbox/dialects/protocol'
import { writeFrames } from '@signalbox/dialects/sse'
import type { Gateway, GatewayOptions } from '@signalbox/gateway'
import { createGateway } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import type { Caller } from '../../src/access/caller.ts'

// A real gateway between a client that speaks a dialect and providers that play a script.

/** One answer in a provider's dialect: as it is told, or as it goes wrong. */
export type Act = { readonly whole: JsonObject; readonly frames: readonly Frame[] } | { readonly status: number; readonly body: JsonObject }

export interface Scripted extends Provider {
  /** The bodies that it was sent. */
  readonly calls: readonly JsonObject[]
  play(...acts: readonly Act[]): void
}

export function scripted(id: string, dialect: ProviderDialect, more: Partial<Provider> = {}): Scripted {
  const script: Act[] = []
  const calls: JsonObject[] = []
  return {
    id,
    dialects: [dialect],
    credential: { id: `${id}-credential`, owner: 'platform', secret: 'secret' },
    endpoint: () => `http://${id}.invalid/`,
    authorize: () => {},
    calls,
    play: (...acts) => void script.push(...acts),
    async answer({ body, stream }) {
      // As it was then: the client goes on with the very arrays that it sent.
      calls.push(structuredClone(body))
      const act = script.shift()
      if (!act) throw new Error(`${id} has nothing left to say.`)
      if (!('whole' in act)) return act
      return stream ? { status: 200, frames: oneByOne(act.frames) } : { status: 200, body: act.whole }
    },
    ...more,
  }
}

async function* oneByOne(frames: readonly Frame[]): AsyncGenerator<readonly Frame[], void> {
  for (const frame of frames) yield [frame]
}

export const offerOf = ({ id, dialects }: Provider, more: Partial<Offer> = {}): Offer => ({
  provider: id,
  model: 'their-model',
  api: dialects[0]?.name ?? '',
  price: { input: 0, output: 0 },
  ...more,
})

export const sealingKey = new Uint8Array(32).fill(7)

export interface Fixture {
  readonly gateway: Gateway
  readonly caller: Caller
  /** Another workspace of the same gateway. */
  readonly stranger: Caller
  close(): Promise<void>
}

/** Providers are asked in the order in which they are given, unless the options say otherwise. */
export async function openFixture(providers: readonly Provider[], options: Partial<GatewayOptions> = {}): Promise<Fixture> {
  const models: readonly Model[] = [{ id: 'model', family: 'family', offers: providers.map(each => offerOf(each)) }]
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const gateway = createGateway({
    sealingKey,
    logger: quiet,
    models,
    strategy: 'order',
    ...options,
    providers,
    storage: options.storage ?? memoryStorage(),
  })
  const callerOf = async (name: string): Promise<Caller> => {
    const workspace = await gateway.workspaces.create({ name })
    await gateway.workspaces(workspace.id).billing.credit({ reference: 'test', amount: 1_000_000 })
    const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'test', scopes: '*' })
    return gateway.authenticate(secret)
  }
  return { gateway, caller: await callerOf('Ours'), stranger: await callerOf('Theirs'), close: () => gateway.close() }
}

export interface Answered {
  /** Everything that went to the client. */
  readonly bytes: string
  /** The whole answer, where it came whole. */
  readonly body: JsonObject | undefined
  readonly frames: readonly Frame[]
  readonly metadata: ResponseMetadata
}

/** One exchange, as the HTTP side leads it. */
export async function ask({ gateway, caller }: Pick<Fixture, 'gateway' | 'caller'>, dialect: string, body: JsonObject): Promise<Answered> {
  const client = gateway.dialects[dialect] ?? (await gateway.dialectLoaders[dialect]?.())
  if (!client) throw new Error(`Nobody here speaks ${dialect}.`)
  const request = client.decodeRequest({ model: 'model', ...body })
  const reply = gateway.infer(request, { caller })
  if (request.delivery === 'whole') {
    const written = client.encodeResponse(await reply.whole(), request, reply.metadata())
    return { bytes: JSON.stringify(written), body: written, frames: [], metadata: reply.metadata() }
  }
  const encoder = client.encodeEvents(request, reply.metadata)
  const batches = reply.batches()
  const frames: Frame[] = []
  for (let step = await batches.next(); !step.done; step = await batches.next()) frames.push(...encoder.write(step.value))
  return { bytes: writeFrames(frames), body: undefined, frames, metadata: reply.metadata() }
}
