export { readFrames } from './read.ts'
export { keepAlive, writeFrames } from './write.ts'
