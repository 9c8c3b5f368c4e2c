import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { StartError } from './fault.ts'
import type { NamedStorage } from './storage.ts'

/** The key that encrypts secrets of workspaces. */
export interface SealingKey {
  /** 32 bytes. */
  readonly key: Uint8Array
  /** The file that this start created. */
  readonly made?: string
  /** Removes the new file if the start fails later. */
  readonly undo: () => void
}

/**
 * The configured key, else the one next to the database, else a new one. A new key is never created for an existing database.
 *
 * @throws {StartError} The storage is used by other machines too, and no key is configured; or a key is all zeros.
 */
export function sealingKeyFor({ scheme, file: database, shown }: NamedStorage, given: string | undefined): SealingKey {
  if (given !== undefined) return fromHex(checked(given, '`sealing_key` (SIGNALBOX_SEALING_KEY)'))
  if (scheme.reach === 'process') return fromHex(randomBytes(32).toString('hex'))
  if (database === undefined) {
    throw new StartError(
      `\`sealing_key\` (SIGNALBOX_SEALING_KEY) is missing: every process that uses ${shown} needs the same one. Create a key with \`openssl rand -hex 32\`, and keep it as long as the database.`,
    )
  }
  const file = `${database}.key`
  const old = readKey(file)
  if (old !== undefined) return fromHex(checked(old, `The sealing key ${file}`))
  if (isUsed(database)) {
    throw new StartError(
      `${database} exists, but its sealing key ${file} does not. Restore the file, or set \`sealing_key\` (SIGNALBOX_SEALING_KEY): another key cannot open the sealed data.`,
    )
  }
  const hex = randomBytes(32).toString('hex')
  writeKey(file, hex)
  return { ...fromHex(hex), made: file, undo: () => unlinkSync(file) }
}

const fromHex = (hex: string): SealingKey => ({ key: Uint8Array.from(Buffer.from(hex, 'hex')), undo: () => {} })

function checked(hex: string, name: string): string {
  if (/[^0]/.test(hex)) return hex
  throw new StartError(`${name} is all zeros, which is easy to guess. Create a key with \`openssl rand -hex 32\`.`)
}

const isUsed = (database: string): boolean => existsSync(database) && statSync(database).size > 0

function readKey(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  const text = tryFile(`The sealing key ${file} cannot be read`, () => readFileSync(file, 'utf8')).trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return text
  throw new StartError(`The sealing key ${file} is damaged: it must have 64 hex digits, and has ${text.length} characters.`)
}

function writeKey(file: string, hex: string): void {
  // Never overwrites: of two concurrent first starts, the second fails.
  tryFile(`The sealing key ${file} cannot be written`, () => writeFileSync(file, `${hex}\n`, { mode: 0o600, flag: 'wx' }))
}

function tryFile<T>(trouble: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new StartError(`${trouble} (${(error as NodeJS.ErrnoException).code}). Check that its folder exists and can be written.`)
  }
}
