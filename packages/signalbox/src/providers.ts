export * from '@signalbox/core/providers'
