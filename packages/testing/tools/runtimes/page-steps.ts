import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

// A page of docs/getting-started as a person works through it: commands, and files that are named by their first line.

const root = resolve(import.meta.dirname, '../../../..')

/** A block of a page: commands of a shell, or a file. */
export type PageStep =
  | { readonly kind: 'commands'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string }

const isServer = ({ text }: PageStep): boolean => text.trimEnd().endsWith(' &')
const isRequest = ({ text }: PageStep): boolean => text.startsWith('curl ')

/** The steps of a page up to its second heading, as they stand. */
export function stepsOf(page: string): readonly PageStep[] {
  const [first = ''] = readFileSync(resolve(root, `docs/getting-started/${page}.md`), 'utf8').split('\n## ')
  return [...first.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']): PageStep => {
    const path = /^\/\/ (\S+)/.exec(text)?.[1]
    if (language === 'sh') return { kind: 'commands', text }
    if (path === undefined)
      throw new Error(`docs/getting-started/${page}.md has a block that is neither commands nor names its file:\n${text}`)
    return { kind: 'file', path, text }
  })
}

/**
 * The commands of a page as one script, with a wait for the server before the request. They end in the request: a server that is started,
 * and what it answers.
 */
export function scriptOf(steps: readonly PageStep[]): string {
  const commands = steps.filter(({ kind }) => kind === 'commands')
  const [server, request] = commands.slice(-2)
  if (!server || !request || !isServer(server) || !isRequest(request)) throw new Error('A page ends with a server and a request to it.')
  const origin = /http:\/\/[\d.]+:\d+/.exec(request.text)?.[0] ?? ''
  const wait = `until curl --silent --output /dev/null ${origin}/; do kill -0 $!; sleep 0.2; done\n`
  return ['set -eu\n', ...commands.slice(0, -1).map(({ text }) => text), wait, request.text].join('')
}

/** The text of an answer that was streamed as Server-Sent Events of the Responses API. */
export const streamedText = (events: string): string =>
  [...events.matchAll(/^event: response\.output_text\.delta\ndata: (.*)$/gm)].map(([, data = '{}']) => JSON.parse(data).delta).join('')
