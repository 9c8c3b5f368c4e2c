import { sixOffers, type World } from './world.ts'

const usual = { offers: sixOffers, rate: 8, minutes: 60, sessions: 0.4, drift: 0.15 } as const

export const calm: World = { ...usual, name: 'calm', faults: () => [] }
