import { parseArgs } from 'node:util'
import { climb } from './fuzz-bodies/climb.ts'
import { flood } from './fuzz-bodies/flood.ts'
import { fuzzScene } from './fuzz-bodies/scene.ts'

// Attacks the API in process with bodies, and says what came of it. It ends by itself, and in error where a body led to an answer of
// 500, to an unhandled rejection or to a changed prototype. `pnpm lab bodies --count 1000000 --minutes 60`

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    shapes: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '120' },
  },
})
const seed = Number(values.seed)
const endsAt = performance.now() + Number(values.minutes) * 60_000
const goesOn = (): boolean => performance.now() < endsAt
const out = (line: string): void => void process.stdout.write(`${line}\n`)

/** Those that the caller brought about: a deadline of a millisecond, a provider that is not there. */
const named: ReadonlySet<string> = new Set(['503 service_unavailable', '504 deadline_exceeded', '502 provider_error'])

const scene = await fuzzScene()
const flooded = await flood(scene, { count: Number(values.count), seed, goesOn, onProgress: sent => out(`${sent} sent`) })
out(`\n${flooded.sent} mutated bodies (seed ${seed})`)
for (const [answer, count] of [...flooded.answers].sort(([, a], [, b]) => b - a)) out(`${String(count).padStart(9)}  ${answer}`)
out(`\nunhandled rejections: ${flooded.unhandled}; prototypes clean: ${flooded.isPrototypeClean}`)
out('slowest, CPU ms:')
for (const { cpuMs, call, text } of flooded.slowest) out(`${cpuMs.toFixed(0).padStart(6)}  ${call}  ${text.slice(0, 200)}`)
if (flooded.errors.length > 0) out(`\nlogged as errors:\n${flooded.errors.slice(0, 10).join('\n')}`)
if (flooded.samples.length > 0) out(`\n500 and above:\n${flooded.samples.join('\n')}`)

await scene.renew()
const climbed = await climb(scene, { rounds: Number(values.shapes), seed, goesOn })
out(`\n${climbed.sent} shapes within the caps; the dearest, CPU ms:`)
for (const { cpuMs, path, name, model, status, bytes, genes } of climbed.dearest.slice(0, 15))
  out(`${cpuMs.toFixed(0).padStart(6)}  ${path}, ${name} → ${model}: ${status}, ${bytes} characters ${JSON.stringify(genes)}`)
if (climbed.failures.length > 0) out(`500 and above:\n${climbed.failures.join('\n')}`)

const bad = [...flooded.answers.keys()].filter(answer => answer >= '5' && !named.has(answer))
process.exit(bad.length > 0 || climbed.failures.length > 0 || flooded.unhandled > 0 || !flooded.isPrototypeClean ? 1 : 0)
