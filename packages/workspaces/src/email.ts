import { invalidValueError } from '@signalbox/core/resources'

/** The normal form in which addresses of invites and members are compared: full-width letters, case and composed accents do not matter. */
export const normalEmail = (email: string): string => email.normalize('NFKC').toLowerCase()

/** Invisible characters, and those that modify their neighbours: zero-width, control and direction marks, variation selectors. */
const invisible = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/** Scripts with letters that look like those of another script. */
const lookAlike: readonly RegExp[] = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Georgian}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
]

const isMixed = (part: string): boolean => lookAlike.filter(letters => letters.test(part)).length > 1

/** Throws if it is not an address, contains invisible characters, or mixes look-alike scripts within a part. */
export function checkEmail(email: string): void {
  const form = normalEmail(email)
  if (invisible.test(email) || !/^[^@]+@[^@]+$/.test(form)) throw invalidValueError('email', email, 'an address, as in ada@example.com')
  if (form.split(/[@.]/).some(isMixed)) throw invalidValueError('email', email, 'an address in which each part uses one alphabet')
}
