import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame, JsonObject } from '../src/protocol/wire.ts'

// Answers of real providers and the schemas that they publish. They are not in the repository: `pnpm test:recorded` names their folder.

const folder = process.env.SIGNALBOX_RECORDINGS

/** The text of a recorded file, as in `google/google-429-retry-info.json`. */
export const readRecorded = (file: string): string => readFileSync(join(folder ?? '', file), 'utf8')

/** The text of a published schema, as in `openai-subset-2026-08-21.json`. */
export const readSchema = (file: string): string => readFileSync(join(process.env.SIGNALBOX_SCHEMAS ?? '', file), 'utf8')

/** The files of a vendor. */
export const recordedFiles = (vendor: string): readonly string[] => readdirSync(join(folder ?? '', vendor))

export interface Recording {
  readonly name: string
  readonly dialect: 'responses' | 'chat' | 'gemini' | 'messages'
  readonly frames: readonly Frame[]
  /** The same frames as a server sends them. */
  readonly text: string
  /** The whole answer to the same request, where one was kept. Another run of the model, so its words differ. */
  readonly whole?: JsonObject
}

const vendors = ['openai', 'groq', 'deepseek', 'mistral', 'openai-compatible', 'google', 'anthropic']

/** Empty where no folder is named. */
export const recordings: readonly Recording[] = folder === undefined ? [] : vendors.flatMap(vendor => inFolder(vendor))

function inFolder(vendor: string): readonly Recording[] {
  const files = recordedFiles(vendor)
  const read = (file: string): string => readRecorded(`${vendor}/${file}`)
  return files.flatMap(file => {
    if (file.endsWith('.sse')) return [recording(`${vendor}/${file}`, dataLines(read(file)))]
    const [, stem] = /^(.*)\.chunks\.txt$/.exec(file) ?? []
    if (stem === undefined) return []
    const lines = read(file)
      .split('\n')
      .filter(line => line.trim() !== '')
    const whole = files.includes(`${stem}.json`) ? (JSON.parse(read(`${stem}.json`)) as JsonObject) : undefined
    return turns(lines).map((turn, at) => recording(`${vendor}/${stem}${at > 0 ? `#${at + 1}` : ''}`, turn, at === 0 ? whole : undefined))
  })
}

/** One file may hold the answers of several turns, one after the other. */
function turns(lines: readonly string[]): readonly (readonly string[])[] {
  const found: string[][] = []
  for (const [at, line] of lines.entries()) {
    const isNext = line.startsWith('{"type":"response.created"') || lines[at - 1]?.startsWith('{"type":"message_stop"')
    if (found.length === 0 || isNext) found.push([])
    found.at(-1)?.push(line)
  }
  return found
}

function dataLines(sse: string): readonly string[] {
  return [...sse.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '').filter(data => data !== '[DONE]')
}

function recording(name: string, lines: readonly string[], whole?: JsonObject): Recording {
  const dialect = dialectOf(name, lines)
  const frames = lines.map(data => frameOf(data))
  const sent: readonly Frame[] = dialect === 'chat' ? [...frames.map(({ data }) => ({ data })), { data: '[DONE]' }] : frames
  return {
    name,
    dialect,
    frames: sent,
    text: sent.map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`).join(''),
    ...(whole && { whole }),
  }
}

function dialectOf(name: string, lines: readonly string[]): Recording['dialect'] {
  if (name.startsWith('google/')) return 'gemini'
  if (name.startsWith('anthropic/')) return 'messages'
  return lines.some(line => line.includes('"type":"response.')) ? 'responses' : 'chat'
}

function frameOf(data: string): Frame {
  const [, event] = /"type":"(response\.[\w.]+|error|(?:message|content_block)_\w+|ping)"/.exec(data) ?? []
  return event === undefined ? { data } : { event, data }
}
