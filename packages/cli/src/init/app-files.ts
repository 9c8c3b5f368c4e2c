import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { StartError } from '../fault.ts'
import type { AppTemplate } from './templates.ts'

// The files of an app that depend on what its folder has already.

/** A file to write. */
export interface AppFile {
  /** Below the folder of the app. */
  readonly path: string
  readonly text: string
  /** Whether a file that exists gets the text; otherwise it is kept. */
  readonly replaces: boolean
}

export const readText = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

/** The file of variables with a GATEWAY_KEY: the one that it has, or after its other lines that of the environment or a new one. */
export function keyFile(folder: string, path: string, exported = ''): { readonly text: string; readonly secret: string } {
  const before = readText(join(folder, path)) ?? ''
  const [, known] = /^GATEWAY_KEY=["']?(ak_[\w-]+)["']?\s*$/m.exec(before) ?? []
  if (known !== undefined) return { text: before, secret: known }
  // A variable of the shell wins over the file, so another key in it would be refused.
  const secret = /^ak_[\w-]+$/.test(exported) ? exported : `ak_${randomBytes(16).toString('hex')}`
  return { text: `${withLineEnd(before)}GATEWAY_KEY=${secret}\n`, secret }
}

/** The .gitignore with lines for the key, the packages and the database, where they are missing. */
export function ignoreFile(folder: string, keyPath: string): AppFile {
  const before = readText(join(folder, '.gitignore'))
  const lines = (before ?? '').split(/\r?\n/)
  const wanted = before === undefined ? ['node_modules/', keyPath, 'signalbox.db*'] : [keyPath]
  const missing = wanted.filter(line => !lines.includes(line) && !lines.includes(`/${line}`))
  return { path: '.gitignore', text: withLineEnd(before ?? '') + missing.map(line => `${line}\n`).join(''), replaces: true }
}

const withLineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** What is read of a package.json. */
interface Manifest {
  readonly type?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** @throws {StartError} It is not JSON. */
export function readManifest(folder: string): Manifest {
  const file = join(folder, 'package.json')
  try {
    return JSON.parse(readText(file) ?? '{}')
  } catch (error) {
    throw new StartError(`${file} is not JSON: ${(error as Error).message}`)
  }
}

/** The package.json of a new app; one that exists is kept as it is. */
export function manifestFile(folder: string, { start }: AppTemplate): AppFile {
  const before = readText(join(folder, 'package.json'))
  const name =
    basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z\d._-]/g, '-')
      .replace(/^[._-]+/, '') || 'my-app'
  const manifest = { name, private: true, type: 'module', scripts: { start } }
  return { path: 'package.json', text: before ?? `${JSON.stringify(manifest, null, 2)}\n`, replaces: false }
}

/** A path as one word of a shell. */
export const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
