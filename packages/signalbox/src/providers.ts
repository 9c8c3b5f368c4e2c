export * from '@signalbox/providers'
