import { expect, test } from 'vitest'
import { responsesClient } from './client.ts'

test('a large image is passed on without a copy', () => {
  const url = `data:image/png;base64,${'A'.repeat(30_000_000)}`
  const before = process.cpuUsage()
  const { prompt } = responsesClient.decodeRequest({
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  })
  expect(process.cpuUsage(before).user).toBeLessThan(20_000)
  expect(prompt.input[0]).toMatchObject({ content: [{ type: 'image' }] })
})
