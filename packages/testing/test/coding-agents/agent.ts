import { spawn } from 'node:child_process'
import type { AnswerToolCall } from '../../src/answers/index.ts'
import type { ProviderTraits } from '../drivers/provider-traits.ts'

// What the task needs to know of a coding agent.

/** Where one agent runs: a folder that is its home, and the project that it works on. */
export interface Workplace {
  readonly home: string
  readonly project: string
}

/** How an agent reaches the gateway. */
interface Reached {
  readonly url: string
  readonly secret: string
}

/** A coding agent as its users set it up, driven without a terminal. */
export interface CodingAgent {
  readonly name: string
  /** The npm package, which is also the key of its version. */
  readonly package: string
  readonly program: string
  /** The id of the model that it requests. */
  readonly model: string
  /** Writes its config. */
  setUp(place: Workplace, reached: Reached): void
  env(place: Workplace, reached: Reached): Readonly<Record<string, string>>
  /** The arguments of a turn; all but the first continue the last conversation. */
  turn(prompt: string, isFirst: boolean, place: Workplace): readonly string[]
  /** The text of the answer in what it printed. */
  answerIn(printed: string): string
  /** How it is made to compact the conversation: by a prompt, or by a count of tokens in an answer before, which the gateway has to believe. */
  readonly compacts: { readonly prompt: string } | { readonly inputTokens: number }
  /** Whether a request requests a summary of the conversation. */
  readonly asksForSummary: RegExp
  /** The arguments of a turn whose answer keeps to a schema, and how the result is printed. Absent: not supported. */
  readonly result?: {
    turn(prompt: string, schema: object, place: Workplace): readonly string[]
    resultIn(printed: string): unknown
    /** It requests the result with a tool of this name. */
    readonly tool?: string
  }
  /** The calls of its tools. */
  readonly tools: AgentTools
}

interface AgentTools {
  read(place: Workplace, file: string): Called
  /** Three calls at once: two files are read, and the folder is listed. */
  readThree(place: Workplace, files: readonly [string, string]): readonly Called[]
  edit(place: Workplace, change: { readonly file: string; readonly from: string; readonly to: string }): Called
}

/** A call of a function, or of a custom tool, whose input is text. */
export type Called = { readonly name: string; readonly arguments: object } | { readonly name: string; readonly input: string }

/** The call as a model of the dialect makes it: where there are no custom tools, the gateway made a function of one field. */
export function callIn({ name: traits }: ProviderTraits, called: Called, id: string): AnswerToolCall {
  if (!('input' in called)) return { id, name: called.name, arguments: JSON.stringify(called.arguments) }
  if (traits === 'responses') return { id, name: called.name, arguments: called.input, custom: true }
  return { id, name: called.name, arguments: JSON.stringify({ input: called.input }) }
}

/** What a program printed until it ended. */
export interface Ended {
  readonly code: number | null
  readonly printed: string
  readonly errors: string
}

/** Runs a program to its end; one that takes longer than a minute is killed. */
export function run(program: string, args: readonly string[], options: { readonly cwd: string; readonly env: object }): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, env: { ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    child.stdout.on('data', chunk => out.push(chunk))
    child.stderr.on('data', chunk => err.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      resolve({ code, printed: Buffer.concat(out).toString(), errors: Buffer.concat(err).toString() })
    })
  })
}

/** The objects of a text that has one in each line. */
export const jsonLines = (printed: string): readonly Record<string, unknown>[] =>
  printed
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
