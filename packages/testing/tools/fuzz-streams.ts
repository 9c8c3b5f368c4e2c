import { parseArgs } from 'node:util'
import { seeded } from '../src/chunkings.ts'
import type { RawAnswer } from '../test/scripted-transport.ts'
import { type Attack, runBatch } from './fuzz/batch.ts'
import { type Dice, diceOf, inPieces, mutated, mutatedBytes, mutatedFrames, written } from './fuzz/mutate.ts'
import { bytesOf, dialects, samplesOf } from './fuzz/samples.ts'

// `pnpm lab streams --count 120000 --seed 1`: mutated answers of providers through the whole gateway, in this process. Ends with
// status 1 where a promise was broken, and says which. The same seed makes the same answers; `--only 4711` runs that one alone.

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '120000' },
    seed: { type: 'string', default: '20261122' },
    only: { type: 'string' },
    minutes: { type: 'string', default: '60' },
  },
})
const seed = Number(values.seed)
const batchSize = 200
/** What is broken everywhere need not be told a thousand times. */
const maxFaults = 50

function answerFor(dialect: Attack['dialect'], stream: boolean, dice: Dice): RawAnswer {
  // Some answer with a whole body where a stream was asked for, and the other way round.
  const asStream = dice.chance(0.05) ? !stream : stream
  const sample = dice.pick(samplesOf(dialect, asStream))
  let bytes = new Uint8Array(0) as Uint8Array
  if (asStream) {
    let frames = sample.frames ?? []
    for (let times = dice.int(4); times > 0; times -= 1) frames = mutatedFrames(frames, dice)
    bytes = bytesOf(dialect, frames)
  } else {
    const body = dice.chance(0.8) ? mutated(sample.whole, dice) : sample.whole
    bytes = new TextEncoder().encode(written(body))
  }
  if (dice.chance(0.25)) bytes = mutatedBytes(bytes, dice)
  const breaks = dice.chance(0.15)
  if (breaks) bytes = bytes.slice(0, dice.int(bytes.length + 1))
  const status = dice.chance(0.95) ? 200 : dice.pick([201, 204, 302, 400, 401, 403, 404, 413, 429, 500, 502, 503, 529])
  return { status, pieces: inPieces(bytes, dice), breaks }
}

const clientDialects: readonly Attack['clientDialect'][] = ['responses', 'chat', 'messages']

function attackOf(number: number): Attack {
  const dice = diceOf(seeded(seed + number))
  const dialect = dialects[number % dialects.length] ?? 'chat'
  const stream = dice.chance(0.75)
  return {
    number,
    dialect,
    clientDialect: dice.pick(clientDialects),
    stream,
    fallback: dice.chance(0.5),
    answer: answerFor(dialect, stream, dice),
  }
}

const rejections: string[] = []
process.on('unhandledRejection', reason => rejections.push(String(reason)))
process.on('uncaughtException', error => rejections.push(String(error)))

async function run(): Promise<void> {
  const from = values.only === undefined ? 0 : Number(values.only)
  const count = values.only === undefined ? Number(values.count) : 1
  const until = Date.now() + Number(values.minutes) * 60_000
  const faults: string[] = []
  const results = new Map<string, number>()
  let done = 0
  while (done < count && faults.length < maxFaults && Date.now() < until) {
    const length = Math.min(batchSize, count - done)
    const first = from + done
    const batch = await runBatch(Array.from({ length }, (_, at) => attackOf(first + at)))
    faults.push(...batch.faults)
    for (const [result, times] of batch.results) results.set(result, (results.get(result) ?? 0) + times)
    faults.push(...rejections.splice(0).map(reason => `attacks ${first} to ${first + length - 1}: unhandled ${reason}`))
    done += length
    if (done % 5_000 < length) process.stdout.write(`${done} answers, ${faults.length} broken promises\n`)
  }
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(`${[...results].map(([result, times]) => `${result.trim()}: ${times}`).join(', ')}\n`)
  process.stdout.write(`streams: ${done} of ${count} answers, seed ${seed}, ${faults.length} broken promises\n`)
  process.exit(faults.length > 0 ? 1 : 0)
}

await run()
