import { expect, test } from 'vitest'
import { claudeQuirks } from '../../../providers/src/claude-models.ts'
import { offer } from '../../test/laws.ts'
import { bedrockProvider } from '../bedrock/provider.ts'
import { chatClient } from '../chat/client.ts'
import { messagesProvider } from '../messages/provider.ts'

const request = chatClient.decodeRequest({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  stop: ['\n\n', 'END'],
  user: 'u'.repeat(300),
})
const quirks = { ...claudeQuirks('claude-sonnet-4-5'), anthropicFields: true }

test('stop sequences without visible characters are not sent to Claude models, with a warning', () => {
  const messages = messagesProvider.encodeRequest(request, offer, quirks)
  expect(messages.body.stop_sequences).toEqual(['END'])
  expect(messages.warnings).toMatchObject([{ param: 'stop' }])
  expect(bedrockProvider.encodeRequest(request, offer, quirks).body.inferenceConfig).toEqual({ stopSequences: ['END'] })
  expect(bedrockProvider.encodeRequest(request, offer, {}).body.inferenceConfig).toEqual({ stopSequences: ['\n\n', 'END'] })
})

test('a user id that is too long for Anthropic is sent as its hash', () => {
  const { metadata } = messagesProvider.encodeRequest(request, offer, quirks).body
  expect(metadata).toEqual({ user_id: expect.stringMatching(/^id_\w{21}$/) })
})
