import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { StartError } from './fault.ts'
import type { Place } from './storage.ts'

/** Seals what workspaces entrust to the gateway; 32 bytes. */
export interface SealingKey {
  readonly key: Uint8Array
  /** The file that was written just now. */
  readonly made?: string
  /** Takes the new file away again, where the start fails after all. */
  readonly undo: () => void
}

/** The key that was given, else the one beside the database, else a new one. A database never gets a second key by itself. */
export function sealingKeyFor(place: Place, given: string | undefined): SealingKey {
  if (given !== undefined) return kept(given)
  if (place.kind === 'memory') return kept(randomBytes(32).toString('hex'))
  const file = `${place.path}.key`
  const old = read(file)
  if (old !== undefined) return kept(old)
  if (isUsed(place.path)) {
    throw new StartError(
      `${place.path} exists, but its sealing key ${file} does not. Put the key back, or give it as \`sealing_key\` (SIGNALBOX_SEALING_KEY): another one cannot open what was sealed.`,
    )
  }
  const hex = randomBytes(32).toString('hex')
  write(file, hex)
  return { ...kept(hex), made: file, undo: () => unlinkSync(file) }
}

const kept = (hex: string): SealingKey => ({ key: Uint8Array.from(Buffer.from(hex, 'hex')), undo: () => {} })

const isUsed = (database: string): boolean => existsSync(database) && statSync(database).size > 0

function read(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  const text = attempt(`The sealing key ${file} cannot be read`, () => readFileSync(file, 'utf8')).trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return text
  throw new StartError(`The sealing key ${file} is damaged: it takes 64 hex digits, and holds ${text.length} characters.`)
}

function write(file: string, hex: string): void {
  // Never over another: two first starts at once must agree on one key, so the second one fails.
  attempt(`The sealing key ${file} cannot be written`, () => writeFileSync(file, `${hex}\n`, { mode: 0o600, flag: 'wx' }))
}

function attempt<T>(trouble: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new StartError(`${trouble} (${(error as NodeJS.ErrnoException).code}). Check that its folder exists and can be written.`)
  }
}
