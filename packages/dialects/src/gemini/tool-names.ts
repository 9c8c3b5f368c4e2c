import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { hashedCallId } from '../common/ids.ts'
import { toolNamesIn } from '../common/tool-names.ts'
import type { Prompt } from '../protocol/request.ts'

// Tool names start with a letter or `_` and contain letters, digits and `_.:-`.

const maxLength = 64
const isValid = (name: string): boolean => name.length <= maxLength && /^[A-Za-z_][\w.:-]*$/.test(name)

const clean = (name: string): string => name.replaceAll(/[^\w.:-]/g, '_').replace(/^(?![A-Za-z_])/, '_')

/** The names of a prompt's tools as sent: without the characters that are not allowed, with a hash if that is too long or taken. */
export const toolNamesOf = (prompt: Prompt): FittedNames => fittedNames(toolNamesIn(prompt), fit)

function fit(name: string, attempt: number): string {
  if (isValid(name)) return name
  const plain = clean(name)
  if (plain.length > maxLength) return withHash(plain, hashedCallId(name, attempt))
  return attempt === 0 ? plain : withHash(plain, hashedCallId(name, attempt - 1))
}

const hashLength = 8
const withHash = (plain: string, hash: string): string =>
  `${plain.slice(0, maxLength - hashLength - 1)}_${hash.slice('call_'.length, 'call_'.length + hashLength)}`
