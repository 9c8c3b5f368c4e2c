import type { Price } from '@signalbox/dialects/protocol'
import { createGateway } from '@signalbox/gateway'
import { google } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { bytesOf, scriptedTransport } from './scripted-transport.ts'

// The Gemini API names the tier of an answer in a header alone: ai.google.dev/gemini-api/docs/priority-inference, read on 2026-11-24.

const header = 'x-gemini-service-tier'
const unpriced = 'unpriced_option'
const usual = { input: 1_000_000, output: 1_000_000 }
const both: Price = { ...usual, priority: { input: 2_000_000, output: 2_000_000 } }

interface Asked {
  /** Microdollars. */
  readonly cost: number
  readonly warnings: readonly string[]
  /** What was sent as `service_tier`. */
  readonly sent: unknown
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>
  readonly price?: Price
  readonly tier?: string
  readonly isStreamed?: boolean
}

async function ask({ headers = {}, price = both, tier, isStreamed = false }: Asking): Promise<Asked> {
  let sent: unknown
  const answer = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Here.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 100, totalTokenCount: 200 },
  }
  const transport = scriptedTransport((_, body) => {
    sent = JSON.parse(body).serviceTier
    const text = isStreamed ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer)
    return { headers, pieces: [bytesOf(text)] }
  })
  const offers = [{ provider: 'google', model: 'gemini-3.8-flash', api: 'gemini', price }]
  const gateway = createGateway({
    providers: [google({ apiKey: 'sk-google-test' })],
    models: [{ id: 'm', offers }],
    storage: memoryStorage(),
    transport,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  const workspace = gateway.workspaces((await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'prepaid' })).id)
  await workspace.billing.credit({ reference: 'start', amount: 1_000_000 })
  const { secret } = await workspace.apiKeys.create({ name: 'k', scopes: '*' })
  const caller = await gateway.authenticate(secret)
  const body = { model: 'm', input: 'Hi', max_output_tokens: 100, stream: isStreamed, ...(tier !== undefined && { service_tier: tier }) }
  const reply = gateway.infer(
    gateway.dialects.responses.decodeRequest(body, () => undefined),
    { caller },
  )
  if (isStreamed) for await (const _ of reply);
  else await reply.whole()
  const warnings = reply.metadata().warnings ?? []
  const left = (await workspace.billing.balance()).balance
  const entries = await workspace.billing.ledger()
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(left)
  await gateway.close()
  return { cost: 1_000_000 - left, warnings: warnings.map(({ code }) => code), sent }
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('the tier of a %s response that only its header states', (_, isStreamed) => {
  test.each<[why: string, expected: Asking & Omit<Asked, 'sent'>]>([
    ['priority was asked for and served', { tier: 'priority', headers: { [header]: 'priority' }, cost: 400, warnings: [] }],
    ['priority was asked for and not served', { tier: 'priority', headers: { [header]: 'standard' }, cost: 200, warnings: [] }],
    ['priority was asked for and nothing is stated', { tier: 'priority', cost: 400, warnings: [] }],
    ['it has other case and spaces', { tier: 'priority', headers: { [header]: ' Standard ' }, cost: 200, warnings: [] }],
    ['the account buys priority by itself', { headers: { [header]: 'priority' }, cost: 400, warnings: [] }],
    ['priority has no price', { price: usual, headers: { [header]: 'priority' }, cost: 200, warnings: [unpriced] }],
    ['it is half price', { headers: { [header]: 'flex' }, cost: 100, warnings: [] }],
    ['it is a word that is not known', { headers: { [header]: 'warp' }, cost: 200, warnings: [unpriced] }],
    ['it is long', { tier: 'priority', headers: { [header]: '9'.repeat(9_000) }, cost: 400, warnings: [unpriced] }],
    ['it is empty', { tier: 'priority', headers: { [header]: '' }, cost: 400, warnings: [] }],
    ['it is a name of plain objects', { headers: { [header]: '__proto__' }, cost: 200, warnings: [unpriced] }],
    ['another vendor’s header states it', { headers: { 'x-service-tier': 'priority' }, cost: 200, warnings: [] }],
  ])('is billed where %s', async (_why, { cost, warnings, ...asking }) => {
    const asked = await ask({ ...asking, isStreamed })
    expect(asked).toMatchObject({ cost, warnings })
    expect(asked.sent).toBe(asking.tier)
  })
})
