// The gateway's own API for scripts of the page, as the user who is signed in:
// OpenAI's and Anthropic's APIs at /api/llm/v1.
import { toNextJsHandler } from 'signalbox/next'
import { gateway, gatewayUser } from '@/gateway'
import { signedInUser } from '@/session'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNextJsHandler(gateway, {
  async authenticate() {
    const user = await signedInUser()
    return user === undefined ? undefined : { workspace: 'my-app', ...gatewayUser(user) }
  },
})
