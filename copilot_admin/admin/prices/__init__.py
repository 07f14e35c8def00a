"""What models cost: the table of prices, its import, and the models that have no price. Door: `admin`."""
