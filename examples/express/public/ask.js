const form = document.querySelector('form')
const answer = document.querySelector('p')

let token

/** Asks with the token, and with a new one if that has expired. */
async function ask(input) {
  token ??= (await (await fetch('/token', { method: 'POST' })).json()).token
  const response = await fetch('/llm/v1/responses', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', input, stream: true }),
  })
  if (response.status !== 401) return response
  token = undefined
  return ask(input)
}

/** The text of a streamed answer, piece by piece. Each event is a block of lines that ends with an empty one. */
async function* textOf(response) {
  let rest = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const blocks = (rest + read.value).split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      const event = data ? JSON.parse(data) : {}
      if (event.type === 'response.output_text.delta') yield event.delta
      if (event.type === 'error' || event.type === 'response.failed') throw new Error('The answer broke off. Please ask again.')
    }
  }
}

form.addEventListener('submit', async event => {
  event.preventDefault()
  answer.textContent = ''
  try {
    const response = await ask(new FormData(form).get('question'))
    if (!response.ok) throw new Error((await response.json()).error.message)
    for await (const text of textOf(response)) answer.textContent += text
  } catch (error) {
    answer.textContent = error.message
  }
})
