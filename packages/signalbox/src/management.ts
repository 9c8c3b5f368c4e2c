export * from '@signalbox/core/management'
