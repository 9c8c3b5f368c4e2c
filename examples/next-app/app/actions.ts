'use server'

import { redirect } from 'next/navigation'
import { endSession, startSession } from '@/session'

export async function signIn(form: FormData): Promise<void> {
  // Check a password here, or the answer of your identity provider. This example takes
  // any name.
  const user = String(form.get('user')).trim()
  if (/^\w{1,50}$/.test(user)) await startSession(user)
  redirect('/')
}

export async function signOut(): Promise<void> {
  await endSession()
  redirect('/')
}
