export * from '@signalbox/client'
