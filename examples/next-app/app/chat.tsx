'use client'

import { useChat } from '@ai-sdk/react'
import { useRouter } from 'next/navigation'
import type { FormEvent } from 'react'

export function Chat() {
  const router = useRouter()
  // Posts to /api/chat. After each answer the page shows what has been spent.
  const { messages, sendMessage, status, error } = useChat({
    onFinish: () => router.refresh(),
  })
  const isBusy = status === 'submitted' || status === 'streaming'

  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    void sendMessage({ text: String(new FormData(form).get('text')) })
    form.reset()
  }

  return (
    <>
      <ol>
        {messages.map(({ id, role, parts }) => (
          <li key={id} data-role={role}>
            {parts.map(part => (part.type === 'text' ? part.text : '')).join('')}
          </li>
        ))}
      </ol>
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required />
        <button type="submit" disabled={isBusy}>
          Send
        </button>
      </form>
    </>
  )
}
