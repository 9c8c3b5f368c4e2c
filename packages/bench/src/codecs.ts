import { join } from 'node:path'
import { chosen } from './cases.ts'
import type { CodecCost, CodecVerbs } from './children/codecs.ts'
import { dialects } from './dialects.ts'
import { type Child, start } from './ipc.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'

const clients = ['responses', 'chat', 'messages'] as const

interface Row {
  readonly title: string
  readonly ask: (child: Child<CodecVerbs>) => Promise<CodecCost | undefined>
}

const rows: readonly Row[] = [
  ...dialects.map((dialect): Row => ({ title: `${dialect}, bytes to frames`, ask: child => child.ask('reader', { dialect }) })),
  ...dialects.map((dialect): Row => ({ title: `${dialect}, frames to events`, ask: child => child.ask('decoder', { dialect }) })),
  ...clients.map((dialect): Row => ({ title: `${dialect}, events to frames`, ask: child => child.ask('encoder', { dialect }) })),
]

/** Bytes that each decoder and encoder allocates per delta, compared with the minimum: the event, or the frame. */
export const codecs: Section = async ({ only }) => {
  const lines: (readonly string[])[] = []
  for (const { title, ask } of chosen(rows, only, row => row.title)) {
    const child = start<CodecVerbs>({
      script: join(import.meta.dirname, 'children/codecs.ts'),
      execArgv: ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'],
    })
    try {
      const found = await ask(child)
      if (!found) continue
      const { ours, least } = found
      lines.push([
        title,
        ours.bytes.toFixed(0),
        least.bytes.toFixed(0),
        (ours.bytes - least.bytes).toFixed(0),
        (ours.ns / least.ns).toFixed(2),
      ])
    } finally {
      await child.stop()
    }
  }
  return [
    'Bytes of the heap that one delta costs, ten read or written at once. The least: of frames, the frame and its text; of events, the JSON of the frame parsed and the event; of written frames, the text as JSON between two constants, and the frame. Time is ours ÷ the least.',
    table(['codec', 'bytes', 'the least', 'more', 'time ×'], lines),
  ].join('\n\n')
}
