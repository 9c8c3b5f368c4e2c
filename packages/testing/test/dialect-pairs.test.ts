import { describe, inject, test } from 'vitest'
import { clients } from './drivers/clients.ts'
import { providerTraits } from './drivers/provider-traits.ts'
import { scenes, streamedScenes } from './drivers/scenes.ts'

// Every client dialect with every provider dialect. The default run plays a fifth of the scenes for each pair, so that each
// scene still meets every client and every provider; the long run plays them all.

const share = inject('isLongRun') ? 1 : 5

const providers = providerTraits.map((provider, at) => ({ provider, other: providerTraits[(at + 1) % providerTraits.length] ?? provider }))

const cast = clients.flatMap((client, at) => providers.map((pair, place) => ({ client, ...pair, number: at + place })))

describe.each(cast)('a client of $client.dialect with a provider of $provider.name', ({ client, provider, other, number }) => {
  describe.each([false, true])('streamed: %s', stream => {
    const all = Object.entries({ ...scenes, ...(stream && streamedScenes) })
    const played = all.filter((_, at) => (at + number + Number(stream)) % share === 0)
    test.each(played)('%s', (_, play) => play({ client, provider, other, stream }))
  })
})
