import { invalidValue } from '../resources/invalid-value.ts'

/** The one form of an address by which invites and members are compared: full-width letters, cases and accents written in two ways are one. */
export const normalEmail = (email: string): string => email.normalize('NFKC').toLowerCase()

/** Letters that cannot be seen, or that change what stands beside them: zero-width, control and direction marks, variation selectors. */
const unseen = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/** Alphabets whose letters look like those of another one. */
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

/** Throws where it is no address, holds letters that cannot be seen, or mixes alphabets that look alike within one part of it. */
export function checkEmail(email: string): void {
  const form = normalEmail(email)
  if (unseen.test(email) || !/^[^@]+@[^@]+$/.test(form)) throw invalidValue('email', email, 'an address, as in ada@example.com')
  if (form.split(/[@.]/).some(isMixed)) throw invalidValue('email', email, 'an address in which each part uses one alphabet')
}
