/** What a request of these tests is sold at: an answer of `story` takes some seconds. */
const price = { input: 1_000_000, output: 2_000_000 }
export const models = ['echo', 'story'].map(id => ({ id, offers: [{ provider: 'sim', model: id, api: 'chat', price }] }))
