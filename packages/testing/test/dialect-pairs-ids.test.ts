import type { BuiltInDialect } from '@signalbox/dialects'
import type { Quirks } from '@signalbox/dialects/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acts, fakeClock, scriptedProvider, testGateway } from '../src/index.ts'
import { clients } from './drivers/clients.ts'
import { found, traitsOf } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'
import type { Call, Client } from './drivers/sdk-response.ts'
import { shareOf } from './share-of.ts'

// A conversation moves from vendor to vendor, with the calls of each under an id that the next one accepts.

interface Vendor {
  readonly name: string
  readonly speaks: BuiltInDialect
  /** The id that it gives. Empty: it gives none. */
  readonly gives: string
  /** The ids that it takes. */
  readonly takes: RegExp
  readonly quirks?: Quirks
}

const vendors: readonly Vendor[] = [
  { name: 'gpt', speaks: 'responses', gives: 'call_Yd0EbVGbfQ6zzSfZdTkzYQGG', takes: /^.{1,64}$/ },
  { name: 'claude', speaks: 'messages', gives: 'toolu_01A09q90qw90lq917835lq9', takes: /^[a-zA-Z0-9_-]+$/ },
  { name: 'gemini', speaks: 'gemini', gives: '', takes: /./ },
  { name: 'nova', speaks: 'bedrock', gives: 'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q', takes: /^[a-zA-Z0-9_-]{1,64}$/ },
  { name: 'mistral', speaks: 'chat', gives: 'D681PevKs', takes: /^[a-zA-Z0-9]{9}$/, quirks: { callIdLength: 9 } },
  { name: 'kimi', speaks: 'chat', gives: 'functions.look:0', takes: /^.{1,40}$/ },
  { name: 'long', speaks: 'chat', gives: `call_${'0123456789'.repeat(9)}`, takes: /^.{1,40}$/ },
]

interface Told {
  readonly vendor: Vendor
  readonly calls: readonly Call[]
}

/** Each vendor in turn calls a tool, after the previous one was tried and failed. Returns the earlier calls that each was sent. */
async function passAround(client: Client, turns: readonly Vendor[]): Promise<readonly Told[]> {
  const providers = vendors.map(({ name, speaks, quirks = {} }) => ({
    ...scriptedProvider({ id: name, dialect: traitsOf(speaks).dialect }),
    quirks,
  }))
  const clock = fakeClock()
  const testbed = await testGateway({ providers, clock })
  onTestFinished(() => testbed.close())
  const talk = client.converse({ secret: testbed.secret, url: 'http://signalbox.local', fetch: gatewayFetch(testbed.gateway) })
  const told: Told[] = []
  talk.say('Go.')
  for (const [at, vendor] of turns.entries()) {
    // By then a vendor that returned a 429 is tried again at once.
    await clock.advance(60_000)
    const before = turns[at - 1]
    const providerOf = (name: string | undefined) => providers.find(({ id }) => id === name)
    providerOf(before?.name)?.play(acts.status(429, { code: 'rate_limit_exceeded' }))
    providerOf(vendor.name)?.play(
      acts.reply({ tools: [{ id: vendor.gives, name: look.name, arguments: JSON.stringify({ place: `${at}` }) }] }),
    )
    const order = before ? [before.name, vendor.name] : [vendor.name]
    const { calls } = await talk.ask({ stream: at % 2 === 0, tools: [look], more: { gateway: { routing: { order } } } })
    expect(calls.map(({ arguments: written }) => JSON.parse(written))).toEqual([{ place: `${at}` }])
    talk.answer(calls, [`Result ${at}`])
    const body = providerOf(vendor.name)?.calls.at(-1)?.body
    const { call, result } = traitsOf(vendor.speaks)
    const seen = found(body, call)
    expect(found(body, result)).toEqual(seen.map(({ id }, turn) => ({ id, output: `Result ${turn}` })))
    told.push({ vendor, calls: seen })
  }
  return told
}

describe.each(clients)('a conversation of a client of $dialect', client => {
  // The last one has received the calls of all.
  const rounds = vendors.map((first, at) => ({ name: first.name, turns: [...vendors.slice(at), ...vendors.slice(0, at), first] }))

  test.each(shareOf(rounds, clients.indexOf(client), 2))(
    'that moves from $name to all others and back keeps valid call ids',
    async ({ turns }) => {
      const told = await passAround(client, turns)
      for (const [at, { vendor, calls }] of told.entries()) {
        const ids = calls.map(({ id }) => id)
        expect(calls.map(call => JSON.parse(call.arguments))).toEqual(turns.slice(0, at).map((_, place) => ({ place: `${place}` })))
        expect(new Set(ids).size).toBe(at)
        for (const id of ids) expect(id).toMatch(vendor.takes)
      }
      // Each receives its own id unchanged, if it accepts that itself.
      const [own] = told.at(-1)?.calls ?? []
      const { gives, takes } = turns[0] ?? { gives: '', takes: /./ }
      if (gives !== '' && takes.test(gives)) expect(own?.id).toBe(gives)
    },
  )
})
