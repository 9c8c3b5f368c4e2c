// The sign-in of this app: a cookie that names the user, signed with a secret of the
// server. Put your own in its place.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { cookies } from 'next/headers'

const cookieName = 'session'
const maxAgeSeconds = 7 * 86_400

/** Signs a user in. Called from a server action, after a password was checked. */
export async function startSession(user: string): Promise<void> {
  const payload = Buffer.from(
    JSON.stringify({ user, expiresAt: Date.now() + maxAgeSeconds * 1_000 }),
  ).toString('base64url')
  const jar = await cookies()
  jar.set(cookieName, `${payload}.${signatureOf(payload)}`, {
    httpOnly: true, // Scripts of the page cannot read it.
    sameSite: 'lax', // Forms and scripts of other sites do not send it.
    secure: process.env.NODE_ENV === 'production',
    maxAge: maxAgeSeconds,
    path: '/',
  })
}

export async function endSession(): Promise<void> {
  const jar = await cookies()
  jar.delete(cookieName)
}

/** The user who sent this request; undefined without a valid cookie. */
export async function signedInUser(): Promise<string | undefined> {
  const jar = await cookies()
  const [payload = '', signature = ''] = jar.get(cookieName)?.value.split('.') ?? []
  if (!isSame(signature, signatureOf(payload))) return undefined
  const { user, expiresAt } = JSON.parse(
    Buffer.from(payload, 'base64url').toString(),
  ) as { user: string; expiresAt: number }
  return expiresAt > Date.now() ? user : undefined
}

function signatureOf(payload: string): string {
  const secret = process.env.SESSION_SECRET ?? ''
  if (secret.length < 32)
    throw new Error('Set SESSION_SECRET to the output of `openssl rand -hex 32`.')
  return createHmac('sha256', secret).update(payload).digest('base64url')
}

/** Takes the same time wherever the two differ. */
const isSame = (given: string, expected: string): boolean =>
  given.length === expected.length &&
  timingSafeEqual(Buffer.from(given), Buffer.from(expected))
