import { chatProvider } from '@signalbox/dialects'
import type { Offer, Price, Provider } from '@signalbox/dialects/protocol'
import type { Caller, Gateway, GatewayOptions } from '@signalbox/gateway'
import { onTestFinished } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'

// A gateway whose router chooses among providers with changing behaviour, on a fake clock.

/** A provider that handles every call by its current behaviour. */
export interface Moody extends ScriptedProvider {
  mood: Act
}

export function moody(id: string, clock: FakeClock, mood: Act = acts.stall(300)): Moody {
  const always: Act = context => {
    provider.play(always)
    return provider.mood(context)
  }
  const provider: Moody = Object.assign(scriptedProvider({ id, dialect: chatProvider, clock, acts: [always] }), { mood })
  return provider
}

/** Microdollars per million tokens: of two offers the one that costs less is preferred, other things being equal. */
export const cheap: Price = { input: 500_000, output: 1_000_000 }
export const dear: Price = { input: 1_000_000, output: 2_000_000 }

export const offerOf = ({ id }: { readonly id: string }, price: Price = cheap, more: Partial<Offer> = {}): Offer => ({
  provider: id,
  model: 'theirs',
  api: 'chat',
  price,
  ...more,
})

export interface Scene {
  readonly gateway: Gateway
  readonly caller: Caller
  readonly clock: FakeClock
  /** Sends a request without awaiting it: time has to pass before its response. */
  ask(body?: object): Promise<Answered>
  /** So many requests a second for so many seconds, each answered once enough time has passed. */
  load(perSecond: number, seconds: number, body?: (at: number) => object): Promise<readonly Answered[]>
}

export interface Answered {
  /** Undefined if no provider responded. */
  readonly provider: string | undefined
  readonly model: string
  readonly warnings: readonly string[]
  /** USD. */
  readonly cost: number | undefined
  readonly afterMs: number
  /** The code of the error that it ended in. */
  readonly error: string | undefined
}

export interface Staging extends Partial<GatewayOptions> {
  readonly clock: FakeClock
  readonly providers: readonly Provider[]
  readonly offers: readonly Offer[]
}

export async function openScene({ clock, offers, ...options }: Staging): Promise<Scene> {
  const { gateway, caller, close } = await testGateway({
    models: [{ id: 'model', offers }],
    strategy: 'balanced',
    seed: 7,
    limits: { inferenceRpm: 1_000_000, concurrentRequests: 100_000 },
    ...options,
    clock,
    credit: 1_000_000_000_000,
  })
  onTestFinished(close)
  const ask = async (body: object = {}): Promise<Answered> => {
    const request = gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', stream: true, ...body })
    const reply = gateway.infer(request, { caller })
    const began = clock.monotonic()
    const error = await reply.whole().then(
      () => undefined,
      (reason: { readonly code?: string }) => reason.code ?? String(reason),
    )
    const { model, routing, warnings } = reply.metadata()
    const named = error === undefined ? routing?.provider : undefined
    return {
      provider: named,
      model,
      warnings: warnings.map(({ code }) => code),
      cost: routing?.cost?.usd,
      afterMs: clock.monotonic() - began,
      error,
    }
  }
  return {
    gateway,
    caller,
    clock,
    ask,
    async load(perSecond, seconds, body = () => ({})) {
      const answers: Promise<Answered>[] = []
      for (let at = 0; at < perSecond * seconds; at += 1) {
        answers.push(ask(body(at)))
        await clock.advance(1_000 / perSecond)
      }
      return settled(answers, clock)
    },
  }
}

/** Lets time pass until all have been answered, ten minutes at most. */
export async function settled<T>(answers: readonly Promise<T>[], clock: FakeClock): Promise<readonly T[]> {
  let open = true
  const all = Promise.all(answers).finally(() => {
    open = false
  })
  for (let second = 0; open && second < 600; second += 1) await clock.advance(1_000)
  return all
}

export const startClock = (): FakeClock => fakeClock()

/** How many of the answers each provider gave. */
export function countsOf(answers: readonly Answered[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { provider = 'nobody' } of answers) counts[provider] = (counts[provider] ?? 0) + 1
  return counts
}
