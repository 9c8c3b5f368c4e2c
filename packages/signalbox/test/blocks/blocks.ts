import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pageFiles } from '../../../../docs/.vitepress/pages.ts'

// The blocks of code of all pages. The text after the language tag says what cannot be done with a block, and why:
// `ts no-run: it opens a port` is compiled, `ts fragment: a row of a table` is only read, and `ts example: next-app/gateway.ts` is that file of
// examples/, whose own test runs it.

const root = resolve(import.meta.dirname, '../../../..')

/** A block of TypeScript on a page. */
export interface CodeBlock {
  /** `docs/routing.md:40` */
  readonly place: string
  readonly page: string
  /** The file that its first line names: `server.ts`. */
  readonly file: string | undefined
  readonly language: 'ts' | 'tsx' | 'js'
  /** `run`: it runs here. `no-run`: it is compiled. `fragment`: it is no program. `file`, `example`: a test of its own runs it. */
  readonly use: 'run' | 'no-run' | 'fragment' | 'file' | 'example'
  readonly reason: string
  readonly code: string
}

const fence = /^( *)```(tsx?|js)(?: (no-run|fragment|example): (.+))?\n([\s\S]*?)^\1```$/gm

function blocksOn(page: string): readonly CodeBlock[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(fence)].map(({ index, 1: indent = '', 2: language, 3: use, 4: reason = '', 5: code = '' }) => {
    const file = /^\/\/ (\S+\.tsx?)\b/.exec(code)?.[1]
    return {
      place: `${page}:${text.slice(0, index).split('\n').length}`,
      page,
      file,
      language: language as CodeBlock['language'],
      use: (use as CodeBlock['use']) ?? (file === undefined ? 'run' : 'file'),
      reason,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }
  })
}

/** The README of each package, which npm shows. */
const packagePages = (): readonly string[] =>
  readdirSync(join(root, 'packages')).flatMap(name =>
    existsSync(join(root, 'packages', name, 'README.md')) ? [`packages/${name}/README.md`] : [],
  )

/** Every page that has blocks. */
export const blockPages = (): readonly string[] => [...pageFiles(), ...packagePages()]

export const codeBlocks = (): readonly CodeBlock[] => blockPages().flatMap(blocksOn)

/** Languages of fences, to see that no block of code is written as another language. */
export const fencesOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```(\S+)/gm)].map(([, language = '']) => language)
