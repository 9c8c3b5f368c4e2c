import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, inject, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { maxExactCharacters, tokensOf } from './count-text.ts'

const english = `A signal box is a building from which the movements of trains are controlled. From the late nineteenth century the
signaller worked levers in a frame, and rods and wires carried each pull out to the points and signals along the line. The levers
were interlocked: a lever that would have set up a conflicting route could not be moved at all, however hard one pulled. Nobody had
to remember the rules, because the iron remembered them. Electricity made the distances longer and the buildings fewer; today one
room with a dozen screens may supervise several hundred kilometres of track. The principle has not changed. A route is asked for,
checked against everything that is already promised, locked, and only then shown to the driver as a green light. If anything fails,
the signal falls back to red, which is why the arms of the old semaphores were weighted so that gravity alone would bring them down
to danger. Engineers call this failing safe, and it is older than the word software by about a hundred years.`

const typescript = `export async function admit(asking: Asking, { storage, limits }: Admitting): Promise<Ticket> {
  const { caller, plan, requestId, at, until } = asking
  const slotKey = \`slots:\${caller.keyId}\`
  const entered = await storage.counters.enter({ key: slotKey, slot: requestId, limit: limits.concurrent }, at)
  if (!entered) throw new GatewayError('concurrent_requests_exceeded', { retryAfterMs: 1_000 })
  try {
    const held = plan.candidates.reduce((most, candidate) => Math.max(most, mostOf(candidate, asking)), 0)
    const refusal = await storage.ledger.reserve({ id: requestId, amount: held, expiresAt: until + grace })
    if (refusal) throw tooPoor(refusal, held)
    return { slotKey, account: creditAccount(caller.workspaceId) }
  } catch (error) {
    await storage.counters.leave(slotKey, requestId).catch(() => {})
    throw error
  }
}

const usd = (amount: number): string => \`$\${(amount / 1_000_000).toFixed(6)}\`
for (let index = 0; index < items.length; index++) {
  if (items[index]?.type !== 'message') continue
  total += items[index].content.length * 2
}
`

const record = {
  id: 'resp_0195',
  object: 'response',
  status: 'completed',
  model: 'small',
  output: [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The next train leaves at 14:32.', annotations: [] }] },
    { type: 'function_call', name: 'get_timetable', call_id: 'call_1', arguments: '{"station":"Zurich HB","limit":3}' },
  ],
  parallel_tool_calls: true,
  temperature: 0.7,
  max_output_tokens: null,
  usage: { input_tokens: 1284, output_tokens: 96, total_tokens: 1380, input_tokens_details: { cached_tokens: 1024 } },
}

const german = `Ein Stellwerk ist eine Bahnanlage zum Stellen von Weichen und Signalen. Fahrdienstleiter bedienten früher Hebel, deren
Bewegung über Drahtzüge bis zu den Weichen übertragen wurde. Die Abhängigkeiten zwischen den Hebeln schließen aus, dass sich
feindliche Fahrstraßen gleichzeitig einstellen lassen. Heute übernehmen elektronische Stellwerke diese Aufgabe, und ein einziger
Arbeitsplatz überwacht Hunderte von Kilometern Strecke. Fällt etwas aus, so zeigt das Signal Halt.`

const japanese = `信号扱所は、列車の運行を制御するための建物です。かつては係員がてこを操作し、その動きがワイヤーを通じて
ポイントや信号機に伝えられていました。てこは互いに連動しており、衝突するおそれのある進路を同時に設定することはできません。
現在ではコンピューターがこの仕事を引き受け、一つの指令室が何百キロもの線路を監視しています。`

const french = `Un poste d'aiguillage est un bâtiment depuis lequel on commande les mouvements des trains. Les leviers étaient autrefois
enclenchés mécaniquement : celui qui aurait ouvert un itinéraire incompatible ne pouvait pas être manœuvré. Aujourd'hui, une seule
salle surveille plusieurs centaines de kilomètres de voies, mais le principe reste le même.`

const russian = `Пост централизации — здание, из которого управляют движением поездов. Раньше дежурный переводил рычаги, и тяги передавали
это движение стрелкам и сигналам. Рычаги были взаимно замкнуты, поэтому враждебные маршруты нельзя было задать одновременно.`

const estimatedAgainst = (text: string): number => tokensOf([text]) / encode(text).length

/** The repository itself: code, English and JSON of every length, not written for this test. */
const testbed = resolve(import.meta.dirname, '../../../..')
const text = (path: string): string => readFileSync(join(testbed, path), 'utf8')
const texts = (folder: string, kind: RegExp): readonly string[] =>
  readdirSync(join(testbed, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => kind.test(path))
    .map(path => text(join(folder, path)))
    .filter(({ length }) => length > 500)
const manifests = readdirSync(join(testbed, 'packages')).map(name => text(`packages/${name}/package.json`))

test.each([
  ['code', texts('packages/core/src', inject('isLongRun') ? /\.ts$/ : /[a-e]\.ts$/)],
  ['English', [text('README.md'), text('docs/architecture.md'), text('docs/glossary.md'), ...texts('docs/decisions', /\.md$/)]],
  ['JSON', [...manifests, ...manifests.map(manifest => JSON.stringify(JSON.parse(manifest)))]],
])('the %s of this repository is estimated within a tenth: all of it, and four of five files', (_, texts) => {
  const ratios = texts.map(estimatedAgainst)
  expect(texts.length).toBeGreaterThan(3)
  expect(Math.abs(estimatedAgainst(texts.join('\n')) - 1)).toBeLessThanOrEqual(0.1)
  expect(ratios.filter(ratio => Math.abs(ratio - 1) > 0.1).length / ratios.length).toBeLessThanOrEqual(0.2)
})

describe('compared to the tokenizer of a real model', () => {
  test.each([
    ['English', english],
    ['TypeScript', typescript],
    ['JSON', JSON.stringify(record)],
    ['JSON with indents', JSON.stringify(record, null, 2)],
  ])('%s is estimated within a tenth', (_, text) => expect(Math.abs(estimatedAgainst(text) - 1)).toBeLessThanOrEqual(0.1))

  test.each([
    ['German', german],
    ['Japanese', japanese],
    ['French', french],
    ['Russian', russian],
    ['base64', btoa(encodeURIComponent(german))],
    ['ids', Array.from({ length: 40 }, (_, at) => `0195f${(at * 7919).toString(16).padStart(7, '0')}-7c3a-4b1d`).join('\n')],
  ])('%s is estimated within a quarter', (_, text) => expect(Math.abs(estimatedAgainst(text) - 1)).toBeLessThanOrEqual(0.25))
})

const words = fc.string({ unit: anyCharacter, maxLength: 200 })

test('the count of any text is a whole number, and not lower for a text with more words', () => {
  fc.assert(
    fc.property(words, words, (text, more) => {
      const tokens = tokensOf([text])
      expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true)
      expect(tokensOf([`${text} ${more}`])).toBeGreaterThanOrEqual(tokens)
      expect(tokensOf([text, more])).toBeGreaterThanOrEqual(tokens)
    }),
    { numRuns: inject('isLongRun') ? 2_000 : 200 },
  )
})

test('a long text is sampled, with nearly the count of the whole', () => {
  const mixed = [english, JSON.stringify(record), german, typescript, japanese].flatMap((text, at) => Array(120 + 20 * at).fill(text))
  const length = mixed.join('').length
  expect(length).toBeGreaterThan(1.5 * maxExactCharacters)
  const read = mixed.reduce((sum, text) => sum + tokensOf([text]), 0)
  for (const texts of [mixed, [mixed.join('')]]) expect(Math.abs(tokensOf(texts) - read) / read).toBeLessThan(0.03)
})
